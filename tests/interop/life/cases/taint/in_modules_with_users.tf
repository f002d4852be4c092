#= file m/main.tf
variable "name" {}
resource "test_thing" "in" {
  name = var.name
}
resource "test_thing" "user" {
  name  = "${var.name}user"
  value = test_thing.in.id
}
#= apply
module "m" {
  source = "./m"
  count  = 2
  name   = "m${count.index}"
}
#= run taint -no-color module.m[1].test_thing.in
#= plan
#= plan -target module.m[0]
#= apply -target module.m[1].test_thing.user
#= run taint -no-color module.m[0].test_thing.in
#= run untaint -no-color module.m[0].test_thing.in
#= plan
#= run taint -no-color module.m[0].test_thing.user
#= apply -replace module.m[1].test_thing.user
#= plan -refresh-only
#= apply -destroy

#= file m/main.tf
variable "name" {}
resource "test_thing" "a" {
  count = 2
  name  = "${var.name}${count.index}"
}
resource "test_thing" "b" {
  name  = "${var.name}b"
  value = test_thing.a[*].id
}
output "all" {
  value = test_thing.b.value
}
#= apply -target 'module.m["x"].test_thing.a[0]'
module "m" {
  source   = "./m"
  for_each = toset(["x", "y"])
  name     = each.key
}
resource "test_thing" "user" {
  name  = "user"
  value = module.m["x"].all
}
output "all" {
  value = module.m["x"].all
}
#= plan
#= apply -target module.m -refresh=false
#= apply -target 'module.m["x"].test_thing.a' -destroy
#= plan -target 'module.m["y"]'
#= apply -target test_thing.user
#= apply
#= apply -target 'module.m["x"]' -replace 'module.m["x"].test_thing.a[1]'
#= plan -target 'module.m["z"]'
#= plan -target module.m.test_thing.b
#= apply -target 'module.m["y"]' -destroy
#= apply -destroy

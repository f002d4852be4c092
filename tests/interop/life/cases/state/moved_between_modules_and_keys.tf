#= file m/main.tf
variable "names" {
  default = []
}
resource "test_thing" "in" {
  for_each = toset(var.names)
  name     = each.key
}
#= apply
resource "test_thing" "a" {
  count = 2
  name  = "a${count.index}"
}
module "m" {
  source = "./m"
  names  = ["p", "q"]
}
resource "test_thing" "user" {
  name  = "user"
  value = test_thing.a[1].id
}
#= run state mv -no-color test_thing.a[0] module.m.test_thing.in["a0"]
#= plan
#= run state mv -no-color test_thing.a[1] test_thing.a[0]
#= run state mv -no-color module.m module.n[0]
#= run state mv -no-color module.n[0].test_thing.in["p"] module.n[1].test_thing.in["p"]
#= run state mv -no-color module.n[1] module.n[0]
#~ .run.said: Terraform reports this error without the word
#= run state mv -no-color module.n[1].test_thing.in module.k.test_thing.out
#= plan
#= run state mv -no-color test_thing.user test_nested.user
#= run state mv -no-color test_thing.user test_thing.a
#= run state mv -no-color test_thing.user test_thing.a[0]
#= run state mv -no-color -dry-run test_thing.user test_thing.b
#= run state mv -no-color nothing.at test_thing.b
#= apply
resource "test_thing" "a" {
  count = 1
  name  = "a1"
}
#= apply -destroy

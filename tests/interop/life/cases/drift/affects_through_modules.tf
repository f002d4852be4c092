#= file m/main.tf
variable "in" {
  default = null
}
variable "unused" {
  default = null
}
resource "test_thing" "x" {
  count = 2
  name  = "x${count.index}"
  value = var.in
}
output "one" {
  value = test_thing.x[1].chosen
}
output "all" {
  value     = test_thing.x
  sensitive = true
}
output "none" {
  value = null
}
#= apply
resource "test_thing" "a" {
  name = "a"
}
data "test_data" "d" {
  name = test_thing.a.name
}
module "m" {
  source = "./m"
  count  = 1
  in     = "${data.test_data.d.name}${test_thing.a.id}"
  unused = test_thing.a.computed
}
module "n" {
  source   = "./m"
  for_each = { k = 1 }
}
resource "test_thing" "b" {
  name  = "b"
  value = module.m[0].one
  list  = [for key, one in module.n : one.one]
}
#= plan
resource "test_thing" "a" {
  name = "a2"
}
data "test_data" "d" {
  name = test_thing.a.name
}
module "m" {
  source = "./m"
  count  = 1
  in     = "${data.test_data.d.name}${test_thing.a.id}"
  unused = test_thing.a.computed
}
module "n" {
  source   = "./m"
  for_each = { k = 1 }
}
resource "test_thing" "b" {
  name  = "c"
  value = module.m[0].one
  list  = [for key, one in module.n : one.one]
}

#= file m/main.tf
variable "name" {}
resource "test_thing" "a" {
  for_each = { k = 1 }
  name     = var.name
}
#= world 'id of m'
#= plan
module "m" {
  source = "./m"
  name   = "m"
}
module "n" {
  source   = "./m"
  for_each = { x = "n" }
  name     = each.value
}
#= run import module.o.test_thing.a["k"] 'id of m'
#= run import module.m.test_thing.b["k"] 'id of m'
#= run import module.m.test_thing.a["k"] 'id of m'
#= world 'id of n'
#= run import module.n["x"].test_thing.a["k"] 'id of n'
#= apply

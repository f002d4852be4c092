#= file m/main.tf
variable "names" {}
resource "test_thing" "in" {
  for_each = var.names
  name     = each.key
}
output "ids" {
  value = { for name, one in test_thing.in : name => one.id }
}
#= apply
resource "test_thing" "a" {
  for_each = toset(["x", "y", "z"])
  name     = each.key
}
resource "test_thing" "user" {
  name  = "user"
  value = test_thing.a["x"].id
}
#= plan
#= apply
moved {
  from = test_thing.a["x"]
  to   = module.m["one"].test_thing.in["x"]
}
moved {
  from = test_thing.a["y"]
  to   = module.m["two"].test_thing.in["y"]
}
removed {
  from = test_thing.a
  lifecycle {
    destroy = false
  }
}
module "m" {
  source   = "./m"
  for_each = { one = ["x"], two = ["y"] }
  names    = toset(each.value)
}
resource "test_thing" "user" {
  name  = "user"
  value = module.m["one"].ids["x"]
}
#= plan
#= plan
moved {
  from = test_thing.a["x"]
  to   = module.m["one"].test_thing.in["x"]
}
moved {
  from = module.m["one"]
  to   = module.n[0]
}
removed {
  from = module.m
}
module "n" {
  source = "./m"
  count  = 1
  names  = toset(["x"])
}
resource "test_thing" "user" {
  name  = "user"
  value = module.n[0].ids["x"]
}
#= apply
moved {
  from = module.m["one"]
  to   = module.n[0]
}
removed {
  from = module.m
  lifecycle {
    destroy = true
  }
}
module "n" {
  source = "./m"
  count  = 1
  names  = toset(["x"])
}
resource "test_thing" "user" {
  name  = "user"
  value = module.n[0].ids["x"]
}
#= apply
removed {
  from = module.n[0].test_thing.in
}
#= apply
removed {
  from = module.n.test_thing.in
  lifecycle {
    destroy = false
  }
}

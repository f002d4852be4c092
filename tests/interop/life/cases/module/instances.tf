#= file m/main.tf
variable "f" {
  default = null
}
variable "on" {
  default = null
}
variable "p" {
  default = ""
}
resource "test_thing" "a" {
  name   = "${var.p}a"
  forced = var.f
  value  = var.on
}
resource "test_thing" "b" {
  name  = "${var.p}b"
  value = test_thing.a.id
}
output "id" {
  value = test_thing.b.id
}
#= apply
module "x" {
  source   = "./m"
  for_each = toset(["k", "l"])
  p        = each.key
}
resource "test_thing" "c" {
  name = "c"
  list = values(module.x)[*].id
}
#= apply
#< delete lb-1, delete la-1
module "x" {
  source   = "./m"
  for_each = toset(["k"])
  p        = each.key
}
resource "test_thing" "c" {
  name = "c"
  list = values(module.x)[*].id
}
#= apply -destroy -target=module.x["k"]

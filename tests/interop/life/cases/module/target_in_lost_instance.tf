#= file m/main.tf
variable "p" {
  default = ""
}
resource "test_thing" "a" {
  name = "${var.p}a"
}
resource "test_thing" "b" {
  name  = "${var.p}b"
  value = test_thing.a.id
}
#= apply
module "m" {
  source = "./m"
  count  = 3
  p      = count.index
}
resource "test_thing" "z" {
  name  = "z"
  value = length(module.m)
}
#= apply -target=module.m[2].test_thing.b
#~ .: only the target is destroyed, where Terraform destroys every instance that has no place any more
module "m" {
  source = "./m"
  count  = 1
  p      = count.index
}
resource "test_thing" "z" {
  name  = "z"
  value = length(module.m)
}

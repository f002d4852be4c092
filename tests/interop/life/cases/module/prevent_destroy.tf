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
  lifecycle {
    prevent_destroy = true
  }
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
  source = "./m"
  p      = "x"
}
#= plan -destroy
#= plan
locals {}

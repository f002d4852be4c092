#= apply
variable "s" {
  default = "one"
}
resource "test_thing" "a" {
  name  = "a"
  value = var.s
}
#= plan
variable "s" {
  default   = "one"
  sensitive = true
}
resource "test_thing" "a" {
  name  = "a"
  value = var.s
}
#= apply
#= plan

#= apply
variable "s" {
  default   = "one"
  sensitive = true
}
resource "test_thing" "a" {
  name   = "a"
  value  = var.s
  secret = "x"
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.value
  tags  = { x = test_thing.a.secret }
}
#= apply -var=s=two
#= apply
variable "s" {
  default = "one"
}
resource "test_thing" "a" {
  name  = "a"
  value = var.s
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.value
}

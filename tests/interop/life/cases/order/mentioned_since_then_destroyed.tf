#= apply
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "b" {
  name = "b"
}
#= apply -destroy
#< delete b-1, delete a-1
resource "test_thing" "a" {
  name = "a"
}
locals {
  of_a = test_thing.a.id
}
resource "test_thing" "b" {
  name  = "b"
  value = local.of_a
}

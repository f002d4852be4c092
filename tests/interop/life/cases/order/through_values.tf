#= apply
#< create a, create b
locals {
  id = test_thing.a.id
}
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
resource "test_thing" "b" {
  name   = "b"
  value  = local.id
}
#= apply
#< delete a-1, create a, update b-1
locals {
  id = test_thing.a.id
}
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
}
resource "test_thing" "b" {
  name   = "b"
  value  = local.id
}

#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
provider "test" {
  alias = "late"
  value = test_thing.a.id
}
resource "test_thing" "b" {
  provider = test.late
  name     = "b"
  forced   = "1"
}
#= apply
#< delete a-1, create a, create b
#< delete b-1, create b
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
}
provider "test" {
  alias = "late"
  value = test_thing.a.id
}
resource "test_thing" "b" {
  provider = test.late
  name     = "b"
  forced   = "2"
}

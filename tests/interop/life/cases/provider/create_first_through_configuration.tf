#= apply
resource "test_thing" "b" {
  name   = "b"
  forced = "1"
}
provider "test" {
  alias = "late"
  value = test_thing.b.id
}
resource "test_thing" "a" {
  provider = test.late
  name     = "a"
  forced   = "1"
  lifecycle {
    create_before_destroy = true
  }
}
#= apply
#< create b, create a, delete a-1
#< create b, create a, delete b-1
resource "test_thing" "b" {
  name   = "b"
  forced = "2"
}
provider "test" {
  alias = "late"
  value = test_thing.b.id
}
resource "test_thing" "a" {
  provider = test.late
  name     = "a"
  forced   = "2"
  lifecycle {
    create_before_destroy = true
  }
}
#= apply -destroy
#< delete a-2, delete b-2

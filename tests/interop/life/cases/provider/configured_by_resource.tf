#= apply
#< create a, create b
resource "test_thing" "a" {
  name = "a"
}
provider "test" {
  alias = "late"
  value = test_thing.a.id
}
resource "test_thing" "b" {
  provider = test.late
  name     = "b"
}
#= plan
#= apply
#< update a-1, update b-1
resource "test_thing" "a" {
  name = "a"
  list = ["x"]
}
provider "test" {
  alias = "late"
  value = test_thing.a.id
}
resource "test_thing" "b" {
  provider = test.late
  name     = "b"
  list     = ["x"]
}
#= apply -destroy
#< delete b-1, delete a-1

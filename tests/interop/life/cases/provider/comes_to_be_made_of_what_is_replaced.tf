#= apply
resource "test_thing" "r1" {
  name   = "r1"
  forced = "1"
}
resource "test_thing" "r0" {
  count    = 1
  name     = "r0"
  provider = test.p0
}
provider "test" {
  alias = "p0"
}
#= apply
resource "test_thing" "r1" {
  name   = "r1"
  forced = "2"
}
resource "test_thing" "r0" {
  count    = 0
  name     = "r0"
  provider = test.p0
}
provider "test" {
  alias = "p0"
  value = test_thing.r1.id
}

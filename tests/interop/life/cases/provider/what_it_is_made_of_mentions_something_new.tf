#= apply
resource "test_thing" "r2" {
  name = "r2"
}
resource "test_thing" "r0" {
  name     = "r0"
  value    = test_thing.r2.id
  provider = test.p0
}
provider "test" {
  alias = "p0"
  value = test_thing.r2.id
}
#= apply
#< create r3, delete r0-1, delete r2-1
resource "test_thing" "r3" {
  name = "r3"
}
resource "test_thing" "r2" {
  name  = "r2"
  count = 0
  value = test_thing.r3.id
}
provider "test" {
  alias = "p0"
  value = join(",", test_thing.r2[*].id)
}

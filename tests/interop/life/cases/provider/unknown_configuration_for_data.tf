#= apply
resource "test_thing" "a" {
  name = "a"
}
provider "test" {
  alias = "late"
  value = test_thing.a.id
}
data "test_data" "d" {
  provider = test.late
  name     = "d"
}

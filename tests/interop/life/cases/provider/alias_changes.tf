#= apply
provider "test" {
  alias = "x"
  value = "x"
}
resource "test_thing" "a" {
  provider = test.x
  name     = "a"
}
#= plan
resource "test_thing" "a" {
  name = "a"
}
#= apply
provider "test" {
  alias = "y"
  value = "y"
}
resource "test_thing" "a" {
  provider = test.y
  name     = "a"
}

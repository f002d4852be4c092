#= plan
provider "test" {
  value = test_thing.a.id
}
resource "test_thing" "a" {
  name = "a"
}

#= apply
resource "test_thing" "d" {
  name = "d"
}
resource "test_thing" "b" {
  name = "b"
  forced = "1"
}
#= fail delete b-1
#= apply
resource "test_thing" "d" {
  name = "d2"
}
resource "test_thing" "b" {
  name = "b"
  forced = "2"
  value = test_thing.d.name
}

#= apply
resource "test_thing" "a" {
  count = 2
  name = "a${count.index}"
}
resource "test_thing" "b" {
  name = "b"
  value = "x"
}
#= apply
resource "test_thing" "a" {
  count = 1
  name = "a${count.index}"
}
resource "test_thing" "b" {
  name = "b"
  value = test_thing.a[0].id
}
resource "test_thing" "c" {
  name = "c"
  value = test_thing.a[0].id
}
#= fail delete a0-1
#= apply
resource "test_thing" "a" {
  count = 0
  name = "a${count.index}"
}
resource "test_thing" "b" {
  name = "b"
  value = "z"
}
resource "test_thing" "c" {
  name = "c"
  list = test_thing.a[*].id
}
resource "test_thing" "d" {
  name = "d"
  list = test_thing.a[*].id
}

#= apply
resource "test_thing" "a" {
  count = 3
  name  = "a-${count.index}"
}
resource "test_thing" "b" {
  name = "b"
  list = test_thing.a[*].id
}
#= apply
#< delete a-2-1, update b-1
resource "test_thing" "a" {
  count = 2
  name  = "a-${count.index}"
}
resource "test_thing" "b" {
  name = "b"
  list = test_thing.a[*].id
}

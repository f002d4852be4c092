#= apply
resource "test_thing" "a" {
  count = 1
  name  = "a-${count.index}"
}
resource "test_thing" "b" {
  name   = "b"
  list   = test_thing.a[*].id
}
#= apply
#< create a-1, update b-1
resource "test_thing" "a" {
  count = 2
  name  = "a-${count.index}"
}
resource "test_thing" "b" {
  name   = "b"
  list   = test_thing.a[*].id
}

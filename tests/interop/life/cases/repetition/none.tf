#= apply
resource "test_thing" "a" {
  count = 1
  name  = "a-${count.index}"
}
resource "test_thing" "b" {
  name   = "b"
  value  = one(test_thing.a[*].id)
}
#= apply
#< delete a-0-1, update b-1
resource "test_thing" "a" {
  count = 0
  name  = "a-${count.index}"
}
resource "test_thing" "b" {
  name   = "b"
  value  = one(test_thing.a[*].id)
}

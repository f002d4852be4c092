#= apply
resource "test_thing" "a" {
  count  = 3
  name   = "a-${count.index}"
  forced = "1"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name = "b"
  list = test_thing.a[*].id
}
#= apply
#< create a-0, update b-1, delete a-0-1
#< update b-1, delete a-2-1
resource "test_thing" "a" {
  count  = 2
  name   = "a-${count.index}"
  forced = "2"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name = "b"
  list = test_thing.a[*].id
}

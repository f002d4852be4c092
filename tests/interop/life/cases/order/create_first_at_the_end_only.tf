#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
resource "test_thing" "b" {
  name   = "b"
  forced = "1"
  value  = test_thing.a.id
}
resource "test_thing" "c" {
  name   = "c"
  forced = "1"
  value  = test_thing.b.id
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "d" {
  name   = "d"
  forced = "1"
  value  = test_thing.c.id
}
#= apply
#< delete d-1, create a, create b, create c, create d, delete c-1, delete b-1, delete a-1
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
}
resource "test_thing" "b" {
  name   = "b"
  forced = "2"
  value  = test_thing.a.id
}
resource "test_thing" "c" {
  name   = "c"
  forced = "2"
  value  = test_thing.b.id
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "d" {
  name   = "d"
  forced = "2"
  value  = test_thing.c.id
}

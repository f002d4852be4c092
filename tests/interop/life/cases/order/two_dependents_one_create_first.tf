#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
resource "test_thing" "b" {
  name   = "b"
  forced = "1"
  value  = test_thing.a.id
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "c" {
  name   = "c"
  forced = "1"
  value  = test_thing.a.id
}
#= apply
#< create a, create b, delete b-1, delete a-1
#< delete c-1, create c, delete a-1
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
}
resource "test_thing" "b" {
  name   = "b"
  forced = "2"
  value  = test_thing.a.id
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "c" {
  name   = "c"
  forced = "2"
  value  = test_thing.a.id
}

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
#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name   = "b"
  forced = "2"
  value  = test_thing.a.id
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
}
resource "test_thing" "b" {
  name   = "b"
  forced = "3"
  value  = test_thing.a.id
  lifecycle {
    create_before_destroy = true
  }
}

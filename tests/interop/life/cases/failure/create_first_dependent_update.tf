#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= fail update b-1
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
  value  = test_thing.a.id
}
#= fail
#= apply
#< update b-1, delete a-1

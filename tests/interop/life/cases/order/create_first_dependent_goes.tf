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
#= apply
#< delete b-1, delete a-1
#< create a, delete a-1
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
  lifecycle {
    create_before_destroy = true
  }
}

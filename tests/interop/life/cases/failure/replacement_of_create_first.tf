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
  forced = "1"
  value  = test_thing.a.id
  lifecycle {
    create_before_destroy = true
  }
}
#= fail create b
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
  lifecycle {
    create_before_destroy = true
  }
}
#= fail
#= apply
#< create b, delete b-1, delete a-1

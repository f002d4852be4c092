#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  lifecycle {
    create_before_destroy = true
  }
}
data "test_data" "health" {
  name  = "health"
  fails = test_thing.a.id == "a-2" ? "a-2 is not healthy" : null
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
  lifecycle {
    create_before_destroy = true
  }
}
data "test_data" "health" {
  name  = "health"
  fails = test_thing.a.id == "a-2" ? "a-2 is not healthy" : null
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
  lifecycle {
    create_before_destroy = true
  }
}

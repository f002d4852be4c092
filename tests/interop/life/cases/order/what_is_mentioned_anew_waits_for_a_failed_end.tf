#= apply
resource "test_thing" "r2" {
  name = "r2"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "r3" {
  name = "r3"
  forced = test_thing.r2.id
}
#= fail delete r3-1
#= apply
resource "test_thing" "r2n" {
  name = "r2n"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "r3" {
  name = "r3"
  forced = test_thing.r2n.id
}

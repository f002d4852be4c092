#= apply
resource "test_thing" "r3" {
  name = "r3"
  forced = "x"
}
#= apply
#< delete r3-1, create r2n, create r3
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
#= apply
#< delete r3-2, create q, create r3
resource "test_thing" "r2n" {
  name = "r2n"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "q" {
  name = "q"
}
resource "test_thing" "r3" {
  name = "r3"
  forced = "${test_thing.r2n.id}${test_thing.q.id}"
}

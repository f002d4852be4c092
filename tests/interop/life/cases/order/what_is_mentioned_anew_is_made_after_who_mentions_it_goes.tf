#= apply
resource "test_thing" "r2" {
  name = "r2"
}
resource "test_thing" "r3" {
  name = "r3"
  forced = test_thing.r2.id
}
#= apply
#< delete r3-1, delete r2-1
#< delete r3-1, create r2n, create r3
resource "test_thing" "r2n" {
  name = "r2n"
}
resource "test_thing" "r3" {
  name = "r3"
  forced = test_thing.r2n.id
}

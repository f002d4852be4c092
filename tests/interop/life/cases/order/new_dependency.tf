#= apply
resource "test_thing" "b" {
  name   = "b"
}
#= apply
#< create a, update b-1
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}

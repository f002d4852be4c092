#= fail create b
#= apply
#< create a, create b
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
resource "test_thing" "c" {
  name   = "c"
  value  = test_thing.b.id
}
resource "test_thing" "d" {
  name   = "d"
  value  = test_thing.a.id
}
#= fail
#= apply
#< create b, create c

#= plan
resource "test_thing" "a" {
  name   = "a"
  value  = test_thing.b.id
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.c.id
}
resource "test_thing" "c" {
  name   = "c"
  value  = test_thing.a.id
}

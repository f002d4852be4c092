#= apply
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
#= apply
#< update a-1, update b-1, update c-1
resource "test_thing" "a" {
  name   = "a"
  list   = ["x"]
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
  list   = ["x"]
}
resource "test_thing" "c" {
  name   = "c"
  value  = test_thing.b.id
  list   = ["x"]
}

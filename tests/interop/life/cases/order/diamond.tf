#= apply
#< create a, create b, create d
#< create a, create c, create d
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
resource "test_thing" "c" {
  name   = "c"
  value  = test_thing.a.id
}
resource "test_thing" "d" {
  name   = "d"
  list   = [test_thing.b.id, test_thing.c.id]
}
#= apply -destroy
#< delete d-1, delete b-1, delete a-1
#< delete d-1, delete c-1, delete a-1

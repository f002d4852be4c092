#= apply -target=test_thing.b
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
#= plan
#= apply
#= apply -destroy -target=test_thing.b
#< delete c-1, delete b-1
#= apply -target=test_thing.nothing

#= fail create b
#= apply
#< create x, create y, create z
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
resource "test_thing" "x" {
  name   = "x"
}
resource "test_thing" "y" {
  name   = "y"
  value  = test_thing.x.id
}
resource "test_thing" "z" {
  name   = "z"
  value  = test_thing.y.id
}
#= fail
#= apply
#= fail delete y-1
#= apply -destroy
#< delete c-1, delete b-1, delete a-1
#= fail
#= apply -destroy
#< delete y-1, delete x-1

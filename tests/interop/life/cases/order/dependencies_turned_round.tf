#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  value  = test_thing.b.id
}
resource "test_thing" "b" {
  name   = "b"
}
#= apply -destroy
#< delete a-1, delete b-1

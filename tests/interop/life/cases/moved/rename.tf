#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= plan
moved {
  from = test_thing.a
  to   = test_thing.z
}
resource "test_thing" "z" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.z.id
}
#= apply
#= apply -destroy
#< delete b-1, delete a-1

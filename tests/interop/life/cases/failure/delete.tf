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
}
#= fail delete b-1
#= apply -destroy
#= fail delete a-1 late
#= apply -destroy
#= fail
#= apply -destroy

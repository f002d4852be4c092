#= apply
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.id
}
#= apply -target=test_thing.a
resource "test_thing" "c" {
  name = "c"
}
#= apply

#= apply
resource "test_thing" "a" {
  name   = "a"
}
data "test_data" "d" {
  name  = "d"
  value = test_thing.a.chosen
}
#= apply
resource "test_thing" "a" {
  name   = "a"
}
#= apply
resource "test_thing" "a" {
  name   = "a"
}
data "test_data" "d" {
  name  = "d"
  value = test_thing.a.chosen
}
#= apply -destroy

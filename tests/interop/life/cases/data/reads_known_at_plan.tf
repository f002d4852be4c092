#= apply
resource "test_thing" "a" {
  name   = "a"
}
data "test_data" "d" {
  name  = "d"
  value = test_thing.a.chosen
}
resource "test_thing" "b" {
  name   = "b"
  value  = data.test_data.d.result
}
#= plan
resource "test_thing" "a" {
  name   = "a"
  list   = ["x"]
}
data "test_data" "d" {
  name  = "d"
  value = test_thing.a.chosen
}
resource "test_thing" "b" {
  name   = "b"
  value  = data.test_data.d.result
}
#= apply

#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "z" {
  name   = "z"
}
data "test_data" "d" {
  name       = "d"
  depends_on = [test_thing.a]
}
#= apply
resource "test_thing" "z" {
  name   = "z"
}
data "test_data" "d" {
  name       = "d"
  depends_on = [test_thing.z]
}

#= apply
resource "test_thing" "a" {
  name   = "a"
}
data "test_data" "d" {
  name       = "d"
  depends_on = [test_thing.a]
}
resource "test_thing" "b" {
  name   = "b"
  value  = data.test_data.d.result
}
#= apply
#< update a-1, data d
resource "test_thing" "a" {
  name   = "a"
  list   = ["x"]
}
data "test_data" "d" {
  name       = "d"
  depends_on = [test_thing.a]
}
resource "test_thing" "b" {
  name   = "b"
  value  = data.test_data.d.result
}
#= plan
#= apply -destroy

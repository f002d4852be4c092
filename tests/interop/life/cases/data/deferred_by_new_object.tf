#= apply
#< create a, data d, create b
resource "test_thing" "a" {
  name   = "a"
}
data "test_data" "d" {
  name  = "d"
  value = test_thing.a.id
}
resource "test_thing" "b" {
  name   = "b"
  value  = data.test_data.d.result
}
#= plan

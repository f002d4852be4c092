#= apply
resource "test_thing" "a" {
  name = "a"
}
data "test_data" "d" {
  name = "d"
}
#= apply -target=test_thing.a
resource "test_thing" "a" {
  name = "a2"
}
#= plan -target=data.test_data.d
#= apply -destroy -target=test_thing.a
#= apply

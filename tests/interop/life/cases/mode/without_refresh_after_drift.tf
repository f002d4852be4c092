#= apply
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.chosen
}
data "test_data" "d" {
  name  = "d"
  value = test_thing.a.chosen
}
output "o" {
  value = test_thing.a.chosen
}
#= world a-1 chosen=other
#= plan -refresh=false
#= apply -refresh=false
resource "test_thing" "a" {
  name = "a"
  list = ["x"]
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.chosen
}
data "test_data" "d" {
  name  = "d"
  value = test_thing.a.chosen
}
output "o" {
  value = test_thing.a.chosen
}
#= plan
#= gone b-1
#= apply -refresh=false
#= plan -refresh=false -destroy
#= apply -destroy -refresh=false

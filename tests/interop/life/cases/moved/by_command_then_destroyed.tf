#= apply
resource "test_thing" "m" {
  name = "a"
}
resource "test_thing" "y" {
  name  = "y"
  value = test_thing.m.id
}
#= run state mv test_thing.m test_thing.b
#= apply -destroy
#< delete y-1, delete a-1
resource "test_thing" "b" {
  name = "a"
}
resource "test_thing" "y" {
  name  = "y"
  value = test_thing.b.id
}

#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
resource "test_thing" "b" {
  name   = "b"
  forced = "1"
  value  = test_thing.a.id
}
#= apply
#~ .: there is an order, where Terraform finds a cycle
#< delete b-1, delete a-1, create b, create a
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
  value  = test_thing.b.id
}
resource "test_thing" "b" {
  name   = "b"
  forced = "2"
}

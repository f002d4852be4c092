#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
resource "test_thing" "c" {
  name   = "c"
  value  = test_thing.b.id
}
#= apply
#~ .: there is an order, where Terraform finds a cycle
#< create b, delete b-1, delete a-1, create a
#< update c-1, delete b-1
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
resource "test_thing" "b" {
  name   = "b"
  forced = "1"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "c" {
  name   = "c"
  value  = "other"
}

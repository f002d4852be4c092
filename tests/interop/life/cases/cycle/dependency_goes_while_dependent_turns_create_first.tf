#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  forced = "1"
  value  = test_thing.a.id
}
resource "test_thing" "c" {
  name   = "c"
  value  = test_thing.b.id
}
#= apply
#~ .: there is an order, where Terraform finds a cycle
resource "test_thing" "b" {
  name   = "b"
  forced = "2"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "c" {
  name   = "c"
  value  = test_thing.b.id
}

#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name   = "b"
  forced = "1"
  value  = test_thing.a.id
  lifecycle {
    create_before_destroy = true
  }
}
#= apply
#~ .: there is an order, where Terraform finds a cycle
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
  value  = test_thing.b.id
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name   = "b"
  forced = "2"
  lifecycle {
    create_before_destroy = true
  }
}

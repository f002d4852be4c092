#= apply
resource "test_thing" "a" {
  name   = "a"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= gone a-1
#= apply

#= apply
resource "test_thing" "a" {
  name   = "a"
  tags   = { x = "1" }
  lifecycle {
    ignore_changes = [name, tags["x"]]
  }
}
#= world a-1 name=other
#= plan
#= apply
resource "test_thing" "a" {
  name   = "a"
  tags   = { x = "2", y = "3" }
  lifecycle {
    ignore_changes = [name, tags["x"]]
  }
}

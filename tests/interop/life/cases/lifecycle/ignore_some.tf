#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  list   = ["x"]
  lifecycle {
    ignore_changes = [forced, list[0]]
  }
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
  list   = ["y", "z"]
  lifecycle {
    ignore_changes = [forced, list[0]]
  }
}
#= world a-1 forced=9
#= plan
#= apply

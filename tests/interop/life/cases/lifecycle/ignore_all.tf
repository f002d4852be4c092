#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  lifecycle {
    ignore_changes = all
  }
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
  list   = ["x"]
  lifecycle {
    ignore_changes = all
  }
}
#= apply -replace=test_thing.a
#= run taint test_thing.a
#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "3"
  lifecycle {
    ignore_changes = all
  }
}

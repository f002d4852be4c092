#= apply
resource "test_thing" "a" {
  name = "a"
  tags = { x = "1", y = "2" }
  list = ["p", "q"]
  lifecycle {
    ignore_changes = [tags["x"], list[1]]
  }
}
resource "test_blocks" "b" {
  name = "b"
  lifecycle {
    ignore_changes = [list, map, group]
  }
}
resource "test_nested" "c" {
  name = "c"
  lifecycle {
    ignore_changes = [name]
  }
}
#= apply
resource "test_thing" "a" {
  name = "a"
  tags = { x = "9", z = "3" }
  list = ["r", "s"]
  lifecycle {
    ignore_changes = [tags["x"], list[1]]
  }
}
resource "test_blocks" "b" {
  name = "b"
  list {}
  group {}
  lifecycle {
    ignore_changes = [list, map, group]
  }
}
resource "test_nested" "c" {
  name   = "d"
  forced = "1"
  lifecycle {
    ignore_changes = [name]
  }
}
#= plan
#= apply
resource "test_thing" "a" {
  name = "a"
  tags = { z = "3" }
  list = ["r"]
  lifecycle {
    ignore_changes = [tags["x"], list[1]]
  }
}
resource "test_blocks" "b" {
  name = "b"
  list {}
  lifecycle {
    ignore_changes = [list[0]]
  }
}
#= plan
resource "test_thing" "a" {
  name = "a"
  lifecycle {
    ignore_changes = [tags["x"], nothing]
  }
}

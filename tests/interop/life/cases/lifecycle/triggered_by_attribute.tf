#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  lifecycle {
    replace_triggered_by = [test_thing.a.chosen]
  }
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  list   = ["x"]
}
resource "test_thing" "b" {
  name   = "b"
  lifecycle {
    replace_triggered_by = [test_thing.a.chosen]
  }
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  chosen = "mine"
}
resource "test_thing" "b" {
  name   = "b"
  lifecycle {
    replace_triggered_by = [test_thing.a.chosen]
  }
}

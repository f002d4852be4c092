#= apply
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "b" {
  name = "b"
  lifecycle {
    replace_triggered_by = [test_thing.a]
  }
}
#= run taint test_thing.b
#= apply
resource "test_thing" "a" {
  name = "a2"
}
resource "test_thing" "b" {
  name = "b"
  lifecycle {
    replace_triggered_by = [test_thing.a]
  }
}

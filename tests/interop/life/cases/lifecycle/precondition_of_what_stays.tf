#= apply
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "noop" {
  name = "noop"
}
#= apply
resource "test_thing" "a" {
  name = "a2"
}
resource "test_thing" "noop" {
  name = "noop"
  lifecycle {
    precondition {
      condition = test_thing.a.computed != "a2 is computed"
      error_message = "pre"
    }
  }
}

#= apply
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "noop" {
  name = "noop"
}
resource "test_thing" "after" {
  name = "after"
  value = test_thing.noop.id
}
#= apply
resource "test_thing" "a" {
  name = "a2"
}
resource "test_thing" "noop" {
  name = "noop"
  lifecycle {
    postcondition {
      condition = test_thing.a.computed != "a2 is computed"
      error_message = "post"
    }
  }
}
resource "test_thing" "after" {
  name = "after2"
  value = test_thing.noop.id
}

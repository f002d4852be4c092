#= apply
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.id
  lifecycle {
    precondition {
      condition     = test_thing.a.id == "other"
      error_message = "Not this one."
    }
  }
}
resource "test_thing" "c" {
  name = "c"
}
#= apply
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.id
}

#= apply
resource "test_thing" "a" {
  name = "a"
  lifecycle {
    postcondition {
      condition     = self.id == "other"
      error_message = "Not this one."
    }
  }
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.id
}
#= plan
#= apply
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.id
}

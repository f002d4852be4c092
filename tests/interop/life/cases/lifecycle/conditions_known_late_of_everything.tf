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
    postcondition {
      condition = test_thing.a.computed != "a2 is computed"
      error_message = "post"
    }
  }
}
data "test_data" "k" {
  name = "known"
  lifecycle {
    postcondition {
      condition = test_thing.a.computed != "a2 is computed"
      error_message = "postdata"
    }
  }
}
output "late" {
  value = "x"
  precondition {
    condition = test_thing.a.computed != "a2 is computed"
    error_message = "preout"
  }
}
#= plan -destroy
#= apply -destroy

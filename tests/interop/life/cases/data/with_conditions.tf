#= apply
resource "test_thing" "a" {
  name = "a"
}
data "test_data" "d" {
  name = "d"
  lifecycle {
    postcondition {
      condition     = self.result == "data of d"
      error_message = "Not this."
    }
  }
}
#= apply
resource "test_thing" "a" {
  name = "a"
  list = ["x"]
}
data "test_data" "d" {
  name = "d"
  lifecycle {
    precondition {
      condition     = test_thing.a.list == null
      error_message = "Not that."
    }
    postcondition {
      condition     = self.result == "data of d"
      error_message = "Not this."
    }
  }
}

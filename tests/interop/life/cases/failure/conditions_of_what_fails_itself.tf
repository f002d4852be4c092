#= apply
variable "want" {
  default = "x"
}
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "unreadable" {
  name  = "unreadable"
  value = file("${test_thing.a.id}.txt")
  lifecycle {
    postcondition {
      condition     = var.want == "x"
      error_message = "Not x."
    }
  }
}
resource "test_thing" "both" {
  name  = "both"
  value = file("${test_thing.a.id}.txt")
  lifecycle {
    precondition {
      condition     = var.want == "x"
      error_message = "Not x."
    }
    postcondition {
      condition     = self.name == "both"
      error_message = "Not both."
    }
  }
}
#= apply

# Conditions without result.
#= plan
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = "no bool"
      error_message = "No."
    }
  }
}
#= plan
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = self.id == 1
      error_message = "No."
    }
  }
}
#= plan
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = null
      error_message = "No."
    }
  }
}

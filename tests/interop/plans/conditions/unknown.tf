# A condition that is known only when applying, and then fails.
#= plan
resource "terraform_data" "a" {
  input = 1
  lifecycle {
    postcondition {
      condition     = self.id == "x"
      error_message = "It is another."
    }
  }
}
resource "terraform_data" "b" {
  lifecycle {
    precondition {
      condition     = terraform_data.a.output == 1
      error_message = "No."
    }
  }
}

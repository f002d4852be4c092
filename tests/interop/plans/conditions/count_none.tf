# Conditions of a resource without instances.
#= apply
resource "terraform_data" "a" {
  count = 0
  lifecycle {
    precondition {
      condition     = count.index == 0
      error_message = "No."
    }
  }
}
resource "terraform_data" "b" {
}
#= plan

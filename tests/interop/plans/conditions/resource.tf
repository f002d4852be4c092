# Conditions before and after.
#= apply
variable "limit" {
  default = 3
}
resource "terraform_data" "a" {
  input = 2
  lifecycle {
    precondition {
      condition     = var.limit > 1
      error_message = "The limit is ${var.limit}."
    }
    postcondition {
      condition     = self.output == 2
      error_message = "It is ${self.output}."
    }
  }
}
resource "terraform_data" "many" {
  for_each = toset(["x", "y"])
  input    = each.key
  lifecycle {
    postcondition {
      condition     = self.input == each.key
      error_message = "No."
    }
  }
}
#= plan
#= plan -var limit=0
#= plan
resource "terraform_data" "a" {
  input = 2
  lifecycle {
    postcondition {
      condition     = self.input == 3
      error_message = "It is ${self.output}."
    }
    postcondition {
      condition     = self.input == 4
      error_message = "Neither."
    }
  }
}

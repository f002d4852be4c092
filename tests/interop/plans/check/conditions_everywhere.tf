#= apply
variable "v" {
  default = 1
  validation {
    condition     = var.v > 0
    error_message = "positive"
  }
}
resource "terraform_data" "a" {
  count = 2
  input = count.index
  lifecycle {
    precondition {
      condition     = var.v == 1
      error_message = "before"
    }
    postcondition {
      condition     = self.id != ""
      error_message = "after"
    }
  }
}
resource "terraform_data" "none" {
  count = 0
  lifecycle {
    precondition {
      condition     = var.v == 1
      error_message = "before"
    }
  }
}
resource "terraform_data" "each" {
  for_each = toset(["k"])
  lifecycle {
    postcondition {
      condition     = each.key == "k"
      error_message = "after"
    }
  }
}
output "o" {
  value = 1
  precondition {
    condition     = var.v == 1
    error_message = "before"
  }
}
output "without" {
  value = 2
}
#= plan
#= apply
resource "terraform_data" "a" {
  count = 1
  input = 5
  lifecycle {
    postcondition {
      condition     = self.input == 5
      error_message = "after"
    }
  }
}
#= plan -refresh=false

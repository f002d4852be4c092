# A condition without a value is a mistake all the same.
#= apply
resource "terraform_data" "a" {
  input = "a"
}
#= plan -refresh-only
resource "terraform_data" "a" {
  input = "a"
  lifecycle {
    precondition {
      condition     = path.module == "x" ? true : null
      error_message = "before a"
    }
    postcondition {
      condition     = self.input == "x" ? true : null
      error_message = "after a"
    }
  }
}
#= plan -refresh-only
resource "terraform_data" "a" {
  input = "a"
}
resource "terraform_data" "new" {
  lifecycle {
    precondition {
      condition     = path.module == "x"
      error_message = "before new"
    }
    postcondition {
      condition     = self.id == "x"
      error_message = "after new"
    }
  }
}
#= plan -refresh-only
resource "terraform_data" "a" {
  input = "a"
}
output "o" {
  value = 1
  precondition {
    condition     = tobool(path.module)
    error_message = "before o"
  }
}

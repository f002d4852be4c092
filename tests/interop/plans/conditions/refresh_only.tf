# Where nothing is changed, a condition that fails is worth no more than a warning.
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "terraform_data" "a" {
  input = "a"
}
resource "terraform_data" "b" {
  input = "b"
}
data "test_data" "d" {
  name = "d"
}
#= plan -refresh-only
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "terraform_data" "a" {
  input = "a"
  lifecycle {
    precondition {
      condition     = path.module == "x"
      error_message = "before a"
    }
    postcondition {
      condition     = self.input == "other"
      error_message = "after a"
    }
  }
}
resource "terraform_data" "b" {
  for_each = toset(["x"])
  input    = each.key
  lifecycle {
    precondition {
      condition     = each.key != "x"
      error_message = "before ${each.key}"
    }
  }
}
data "test_data" "d" {
  name = "d"
  lifecycle {
    precondition {
      condition     = path.module == "x"
      error_message = "before d"
    }
    postcondition {
      condition     = self.name == "other"
      error_message = "after d"
    }
  }
}
output "o" {
  value = terraform_data.a.id
  precondition {
    condition     = terraform_data.a.input == "z"
    error_message = "before o"
  }
}
#= apply -refresh-only
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "terraform_data" "a" {
  input = "a"
  lifecycle {
    precondition {
      condition     = path.module == "x"
      error_message = "before a"
    }
    postcondition {
      condition     = self.input == "other"
      error_message = "after a"
    }
  }
}
data "test_data" "d" {
  name = "d"
  lifecycle {
    precondition {
      condition     = path.module == "x"
      error_message = "before d"
    }
    postcondition {
      condition     = self.name == "other"
      error_message = "after d"
    }
  }
}

#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

resource "terraform_data" "u" {
  input = "x"
}
ephemeral "test_token" "a" {
  name = "a"
}
resource "test_thing" "a" {
  name = "a"
  lifecycle {
    precondition {
      condition     = ephemeral.test_token.a.token != ""
      error_message = "no"
    }
  }
}
output "o" {
  value = 1
  precondition {
    condition     = ephemeral.test_token.a.token != ""
    error_message = "no"
  }
}

#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

resource "terraform_data" "u" {
  input = "x"
}
ephemeral "test_token" "before" {
  name = "a"
  lifecycle {
    precondition {
      condition     = terraform_data.u.input == "y"
      error_message = "no"
    }
  }
}
#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

ephemeral "test_token" "after" {
  name = "a"
  lifecycle {
    postcondition {
      condition     = self.token == "y"
      error_message = "no ${self.token}"
    }
  }
}
#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

ephemeral "test_token" "a" {
  name = "a"
}
resource "test_thing" "a" {
  lifecycle {
    precondition {
      condition     = ephemeral.test_token.a.token == "y"
      error_message = "no ${ephemeral.test_token.a.token}"
    }
  }
}
#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

ephemeral "test_token" "a" {
  name = "a"
}
output "o" {
  value = 1
  precondition {
    condition     = ephemeral.test_token.a.token == "y"
    error_message = "no ${ephemeral.test_token.a.token}"
  }
}

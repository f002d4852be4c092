# What conditions of ephemeral resources turned out to be.
#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
locals {
  yes = true
}
ephemeral "test_token" "t" {
  lifecycle {
    precondition {
      condition     = local.yes
      error_message = "before"
    }
    postcondition {
      condition     = self.name != "x" || local.yes
      error_message = "after"
    }
  }
}
resource "test_thing" "a" {
  name = "a"
  lifecycle {
    precondition {
      condition     = local.yes
      error_message = "before a"
    }
  }
}
output "o" {
  value = 1
  precondition {
    condition     = test_thing.a.id == "id of a"
    error_message = "before o"
  }
}
#= apply

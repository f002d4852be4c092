#= apply
resource "test_thing" "a" {
  name = "a"
  lifecycle {
    precondition {
      condition     = var.ok
      error_message = "It is not."
    }
    postcondition {
      condition     = self.chosen != "other"
      error_message = "It is other."
    }
  }
}
variable "ok" {
  default = true
}
data "test_data" "d" {
  name = "d"
  lifecycle {
    postcondition {
      condition     = var.ok
      error_message = "Not read."
    }
  }
}
output "o" {
  value = test_thing.a.chosen
  precondition {
    condition     = test_thing.a.chosen != "other"
    error_message = "Not shown."
  }
}
check "c" {
  assert {
    condition     = test_thing.a.chosen == "chosen"
    error_message = "It has changed."
  }
}
#= world a-1 chosen=other
#= plan -refresh-only
#= plan -refresh-only -var=ok=false
#= apply -refresh-only
#= plan

#= apply
variable "v" {
  default = 1
}
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = var.v == 1
      error_message = "before"
    }
  }
}
check "c" {
  assert {
    condition     = var.v == 2
    error_message = "two"
  }
}
#= apply -destroy

#= plan
variable "v" {
  default = 1
}
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = var.v == 2
      error_message = "before ${var.v}"
    }
  }
}
check "c" {
  assert {
    condition     = terraform_data.a.id == ""
    error_message = "never looked at"
  }
}

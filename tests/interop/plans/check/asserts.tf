#= apply
variable "v" {
  default = 1
}
resource "terraform_data" "a" {
  input = "x"
}
check "holds" {
  assert {
    condition     = var.v == 1
    error_message = "v is ${var.v}"
  }
}
check "fails" {
  assert {
    condition     = var.v == 2
    error_message = "v is ${var.v}"
  }
  assert {
    condition     = var.v == 1
    error_message = "v is not 1"
  }
  assert {
    condition     = var.v > 5
    error_message = "v is small"
  }
}
check "later" {
  assert {
    condition     = terraform_data.a.output == "x"
    error_message = "output is ${terraform_data.a.output}"
  }
}
check "later_wrong" {
  assert {
    condition     = terraform_data.a.id == "x"
    error_message = "not x"
  }
}
#= plan

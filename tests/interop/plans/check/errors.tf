#= plan
variable "v" {
  default = "x"
}
check "type" {
  assert {
    condition     = var.v
    error_message = "no"
  }
}
check "null" {
  assert {
    condition     = var.v == "x" ? null : null
    error_message = "no"
  }
}
check "value" {
  assert {
    condition     = file("not there") == var.v
    error_message = "no"
  }
}

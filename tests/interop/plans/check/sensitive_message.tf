#= plan
variable "v" {
  default   = "x"
  sensitive = true
}
check "c" {
  assert {
    condition     = var.v == "y"
    error_message = "it is ${var.v}"
  }
}

# A validation that fails points at the value.
#= file terraform.tfvars


x = 1
#= plan
variable "x" {
  type = number
  validation {
    condition     = var.x > 1
    error_message = "Too small."
  }
}
output "o" {
  value = var.x
}

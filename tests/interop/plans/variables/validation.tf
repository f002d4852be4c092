# Validation that holds, that does not, and that says what is wrong.
#= plan -var n=5
variable "n" {
  type = number
  validation {
    condition     = var.n > 3
    error_message = "n is ${var.n}, but more than 3 is needed."
  }
  validation {
    condition     = var.n < 10
    error_message = "n is too large."
  }
}
output "n" {
  value = var.n
}
#= plan -var n=1
#= plan -var n=11

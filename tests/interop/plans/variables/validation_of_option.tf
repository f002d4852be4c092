# A validation that fails points at the declaration where the value has no place.
#= plan -var x=1
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

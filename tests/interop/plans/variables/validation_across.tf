# A condition that reads another variable, and a local value.
#= plan -var a=1 -var b=2
locals {
  limit = 5
}
variable "a" {
  type = number
}
variable "b" {
  type = number
  validation {
    condition     = var.b > var.a && var.b < local.limit
    error_message = "b must be more than a."
  }
}
#= plan -var a=3 -var b=2

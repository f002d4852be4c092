#= file override.tf
variable "a" {
  validation {
    condition     = var.a > 6
    error_message = "over"
  }
}
#= validate
variable "a" {
  default = 1
  validation {
    condition     = var.a > 5
    error_message = "base"
  }
}

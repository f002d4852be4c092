#= file override.tf
variable "a" {
  default = 2
}
#= plan
variable "a" {
  default = 1
  validation {
    condition     = var.a > 5
    error_message = "base"
  }
}

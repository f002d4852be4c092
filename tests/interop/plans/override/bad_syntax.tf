#= file override.tf
variable "b" {
  default =
}
#= validate
variable "a" {}

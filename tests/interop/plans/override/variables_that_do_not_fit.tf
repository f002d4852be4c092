#= file override.tf
variable "a" { default = "x" }
#= validate
variable "a" {
  type    = number
  default = 1
}

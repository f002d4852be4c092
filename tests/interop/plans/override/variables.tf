#= file override.tf
variable "a" {
  default = 2
}
variable "b" {
  type     = number
  nullable = false
}
variable "c" {
  default = true
}
#= plan
variable "a" {
  default     = 1
  description = "x"
}
variable "b" {
  default = "2"
}
variable "c" {
  type    = string
  default = "x"
}
output "all" {
  value = [var.a, var.b, var.c]
}

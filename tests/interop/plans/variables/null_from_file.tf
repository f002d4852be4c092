# A null where none is taken.
#= file terraform.tfvars
x = null
#= plan
variable "x" {
  type = string
  nullable = false
}
output "o" {
  value = var.x
}
#= plan
variable "x" {
  type = string
  nullable = false
  default = "default"
}
output "o" {
  value = var.x
}

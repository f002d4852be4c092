# Only constants in files of values.
#= file terraform.tfvars
x = var.y
#= plan
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}

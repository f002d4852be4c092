# A declaration in a file of values.
#= file terraform.tfvars
variable "x" {}
#= plan
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}

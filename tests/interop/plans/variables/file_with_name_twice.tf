# A name that is set twice.
#= file terraform.tfvars
x = "1"
x = "2"
#= plan
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}

# A value of the wrong kind, in a file.
#= file terraform.tfvars

x = "many"
#= plan
variable "x" {
  type = number
}
output "o" {
  value = var.x
}

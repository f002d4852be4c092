# What does not count need not fit.
#= file terraform.tfvars
x = "many"
#= plan -var x=1
variable "x" {
  type = number
}
output "o" {
  value = var.x
}

# Which names are automatic.
#= file auto.tfvars
x = "auto.tfvars"
#= plan
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}
#= file sub/a.auto.tfvars
x = "in a folder"
#= plan
#= file .auto.tfvars
x = "nothing before it"
#= plan

# Many values in files for no variable.
#= file terraform.tfvars
a = 1
b = 2
c = 3
d = 4
#= plan
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}

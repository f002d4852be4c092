# No calls in files of values.
#= file terraform.tfvars
x = upper("a")
#= plan
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}

# A block in a file of values.
#= file terraform.tfvars
x = "1"
foo {
}
#= plan
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}

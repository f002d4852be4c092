# Operators, templates and for expressions are allowed in files of values.
#= file terraform.tfvars
x = [for n in [1, 2] : "${n * 2}-${n > 1 ? "big" : "small"}"]
#= plan
variable "x" {
  type = any
}
output "o" {
  value = var.x
}

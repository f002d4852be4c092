# Automatic files count in the order of their names, whatever their syntax.
#= file b.auto.tfvars
x = "b"
#= file a.auto.tfvars.json
{"x": "a"}
#= plan
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}

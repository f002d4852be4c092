# The two syntaxes under one name.
#= file a.auto.tfvars
x = "native"
#= file a.auto.tfvars.json
{"x": "json"}
#= plan
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}

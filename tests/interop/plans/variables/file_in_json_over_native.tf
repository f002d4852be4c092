# Of the two files with a fixed name the one in JSON counts.
#= file terraform.tfvars
x = "native"
#= file terraform.tfvars.json
{"x": "json"}
#= plan
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}

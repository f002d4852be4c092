# The name of a file given with an option decides its syntax.
#= file f.json
{"x": "json"}
#= file plain
x = "plain"
#= plan -var-file=f.json
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}
#= plan -var-file=plain

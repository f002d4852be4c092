# Values from the command line and from files, in order of precedence.
#= file terraform.tfvars
a = "from terraform.tfvars"
b = "from terraform.tfvars"
c = "from terraform.tfvars"
l = ["x", 1]
#= file extra.auto.tfvars
b = "from extra.auto.tfvars"
c = "from extra.auto.tfvars"
#= file named.tfvars
c = "from named.tfvars"
d = { k = 1 }
#= file more.tfvars.json
{ "e": { "k": [1, null, "x"] }, "d": { "k": 2 } }
#= apply -var-file=named.tfvars -var-file=more.tfvars.json -var f=given -var g=[1,2] -var h=7
variable "a" {}
variable "b" {}
variable "c" {}
variable "d" {
  type = map(string)
}
variable "e" {
  type = any
}
variable "f" {
  type = string
}
variable "g" {
  type = list(number)
}
variable "h" {
}
variable "l" {
  type = list(string)
}
output "all" {
  value = [var.a, var.b, var.c, var.d, var.e, var.f, var.g, var.h, var.l]
}

# Text from outside for other types is an expression.
#= plan -var l=["a",1] -var m={a=1,"b"="2"} -var t=["a",1] -var a="q" -var z=null
variable "l" {
  type = list(string)
}
variable "m" {
  type = map(number)
}
variable "t" {
  type = tuple([string, number])
}
variable "a" {
  type = any
}
variable "z" {
  type = list(string)
}
output "o" {
  value = [var.l, var.m, var.t, var.a, var.z]
}

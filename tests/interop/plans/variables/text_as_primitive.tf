# Text from outside for primitive types.
#= plan -var n=12 -var b=true -var s=[1] -var u=[1]
variable "n" {
  type = number
}
variable "b" {
  type = bool
}
variable "s" {
  type = string
}
variable "u" {
}
output "o" {
  value = [var.n, var.b, var.s, var.u]
}

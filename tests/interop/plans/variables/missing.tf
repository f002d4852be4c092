# A variable without value.
#= plan
variable "a" {}
variable "b" {
  type = number
}
output "a" {
  value = var.a
}

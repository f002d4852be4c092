# Options that are no pair.
#= plan -var x
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}
#= plan -var =x
#= plan -var x=
#= plan -var x=a=b

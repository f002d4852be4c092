# An option for no variable.
#= plan -var nonesuch=1
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}

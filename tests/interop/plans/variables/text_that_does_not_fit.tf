# Text of the wrong kind.
#= plan -var x=many
variable "x" {
  type = number
}
output "o" {
  value = var.x
}
#= env TF_VAR_x=few
#= plan

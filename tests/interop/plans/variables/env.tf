# The environment counts more than the default.
#= env TF_VAR_x=environment TF_VAR_nonesuch=1
#= apply
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}

# A file counts more than the environment.
#= env TF_VAR_x=environment
#= file terraform.tfvars
x = "file"
#= plan
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}

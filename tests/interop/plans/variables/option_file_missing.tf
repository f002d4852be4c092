# A file that is not there.
#= plan -var-file=nonesuch.tfvars
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}

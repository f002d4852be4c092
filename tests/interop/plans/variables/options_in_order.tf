# Of options the last counts, whatever their kind.
#= file f.tfvars
x = "file"
#= plan -var x=option -var-file=f.tfvars
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}
#= plan -var-file=f.tfvars -var x=option
#= plan -var x=1 -var x=2

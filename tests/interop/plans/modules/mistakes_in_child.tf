#= file child/main.tf
variable "x" {
  default = 1
}
#= validate
module "m" {
  source = "./child"
}
#= file child/main.tf
variable "x" {
  typ = string
}
resource "terraform_data" {
}
#= validate
#= file child/main.tf
variable "x" {
#= validate
#= file child/main.tf
terraform {
  required_version = ">= 99"
}
output "x" {
  value = nothing
}
#= validate
#= file child/main.tf
output "x" {
  value = nothing.at_all
}
output "y" {
  value = 1
}
#= validate

#= file child/main.tf
terraform {
  required_version = ">= 99"
}
output "x" {
  value = nothing
}
#= validate
module "m" {
  source = "./child"
}

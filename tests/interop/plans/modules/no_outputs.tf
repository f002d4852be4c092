#= file child/main.tf
resource "terraform_data" "it" {}
#= apply
module "m" {
  source = "./child"
}
module "none" {
  source = "./child"
  count  = 0
}
output "m" {
  value = module.m
}
output "none" {
  value = module.none
}

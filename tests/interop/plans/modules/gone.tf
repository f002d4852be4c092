#= file child/main.tf
resource "terraform_data" "a" {
  input = 1
}
resource "terraform_data" "b" {
  input = terraform_data.a.output
}
output "b" {
  value = terraform_data.b.output
}
#= apply
module "m" {
  source = "./child"
}
resource "terraform_data" "user" {
  input = module.m.b
}
#= plan
resource "terraform_data" "user" {
  input = 1
}
#= apply
resource "terraform_data" "other" {
  input = 1
}

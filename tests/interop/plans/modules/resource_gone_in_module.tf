#= file child/main.tf
resource "terraform_data" "a" {
  input = 1
}
resource "terraform_data" "b" {
  input = terraform_data.a.output
}
#= apply
module "m" {
  source = "./child"
  count  = 2
}
#= file child/main.tf
resource "terraform_data" "a" {
  input = 1
}
#= apply

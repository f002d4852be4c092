#= file child/main.tf
resource "terraform_data" "a" {
  input = 1
}
#= apply
module "m" {
  source = "./child"
}
#= plan
module "m" {
  source   = "./child"
  for_each = toset(["k"])
}

#= file child/main.tf
variable "n" {
  default = 1
}
resource "terraform_data" "in" {
  count = var.n
}
#= plan
resource "terraform_data" "later" {
  input = 2
}
module "m" {
  source = "./child"
  count  = terraform_data.later.output
}
#= plan
resource "terraform_data" "later" {
  input = 2
}
module "m" {
  source   = "./child"
  for_each = toset([terraform_data.later.id])
}
#= plan
resource "terraform_data" "later" {
  input = 2
}
module "m" {
  source = "./child"
  n      = terraform_data.later.output
}
#= apply
resource "terraform_data" "later" {
  input = 2
}
module "m" {
  source = "./child"
  n      = terraform_data.later.input
}

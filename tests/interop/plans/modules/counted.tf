#= file child/main.tf
variable "index" {
  type = number
}
resource "terraform_data" "first" {
  input = var.index
}
resource "terraform_data" "second" {
  input = terraform_data.first.output + 1
}
output "out" {
  value = terraform_data.second.output
}
#= apply
module "m" {
  source = "./child"
  count  = 3
  index  = count.index * 10
}
resource "terraform_data" "one" {
  input = module.m[1].out
}
resource "terraform_data" "all" {
  input = module.m[*].out
}
resource "terraform_data" "after" {
  depends_on = [module.m]
}
output "whole" {
  value = module.m
}
output "n" {
  value = length(module.m)
}
#= apply
module "m" {
  source = "./child"
  count  = 1
  index  = count.index * 10
}
resource "terraform_data" "all" {
  input = module.m[*].out
}
#= apply
module "m" {
  source = "./child"
  count  = 0
  index  = count.index * 10
}
resource "terraform_data" "all" {
  input = module.m[*].out
}

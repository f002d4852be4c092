#= file child/main.tf
variable "v" {}
module "deep" {
  source = "./deep"
  v      = var.v
}
resource "terraform_data" "own" {
  count = 2
  input = var.v
}
output "v" {
  value = module.deep.v
}
#= file child/deep/main.tf
variable "v" {}
resource "terraform_data" "it" {
  input = var.v
}
output "v" {
  value = terraform_data.it.output
}
#= plan -target=module.a
module "a" {
  source = "./child"
  v      = terraform_data.base.output
}
module "b" {
  source = "./child"
  count  = 2
  v      = "b${count.index}"
}
resource "terraform_data" "base" {
  input = "base"
}
resource "terraform_data" "apart" {
  input = module.a.v
}
output "a" {
  value = module.a.v
}
output "b" {
  value = module.b[0].v
}
#= plan -target=module.a.module.deep
#= plan -target=module.a.terraform_data.own[1]
#= plan -target=module.b
#= plan -target=module.b[1]
#= plan -target=module.b[1].module.deep
#= plan -target=module.b.module.deep
#= plan -target=module.b[0].module.deep.terraform_data.it
#= plan -target=module.b.terraform_data.own
#= plan -target=terraform_data.apart
#= plan -target=module.nothing
#= apply
#= plan -destroy -target=module.a.module.deep
#= plan -destroy -target=module.b[0]
#= plan -destroy -target=module.b[0].module.deep
#= plan -destroy -target=terraform_data.base
#= plan -target=module.b[1] -replace=module.b[1].module.deep.terraform_data.it
#= plan -replace=module.b[0].terraform_data.own[0]
#= plan -replace=module.b.terraform_data.own[0]
#= plan -refresh-only
#= apply -target=module.b
module "b" {
  source = "./child"
  count  = 1
  v      = "b${count.index}"
}
#= apply

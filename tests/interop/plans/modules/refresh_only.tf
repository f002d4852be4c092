#= file child/main.tf
variable "v" {}
resource "terraform_data" "it" {
  input = var.v
}
output "v" {
  value = terraform_data.it.output
}
#= apply
module "m" {
  source = "./child"
  count  = 2
  v      = count.index
}
output "all" {
  value = module.m[*].v
}
#= apply -refresh-only
module "m" {
  source = "./child"
  count  = 3
  v      = count.index
}
output "all" {
  value = [1, 2]
}

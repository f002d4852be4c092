#= file child/main.tf
variable "v" {}
output "v" {
  value = var.v
}
#= validate
module "a" {
  source = "./child"
  v      = module.b.v
}
module "b" {
  source = "./child"
  v      = module.a.v
}
#= plan
module "a" {
  source = "./child"
  v      = 1
  count  = length(module.a)
}

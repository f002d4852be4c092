#= file child/main.tf
variable "v" {}
locals {
  twice = [var.v, var.v]
}
module "leaf" {
  source = "./leaf"
  count  = length(local.twice)
  v      = local.twice[count.index]
}
output "v" {
  value = module.leaf[*].v
}
#= file child/leaf/main.tf
variable "v" {}
output "v" {
  value = upper(var.v)
}
#= apply
module "one" {
  source = "./child"
  v      = "one"
}
module "two" {
  source = "./child/../child"
  v      = module.one.v[1]
}
output "out" {
  value = [module.one.v, module.two.v]
}

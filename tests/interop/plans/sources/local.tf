# A folder beside the root module, and one within it.
#= file sub/main.tf
output "v" {
  value = path.module
}
#= file sub/deep/main.tf
output "v" {
  value = path.module
}
#= apply
module "m" {
  source = "./sub"
}
module "n" {
  source = "./sub/../sub/deep/"
}
output "o" {
  value = [module.m.v, module.n.v]
}

# Modules that call modules beside them.
#= file a/main.tf
module "b" {
  source = "../b"
}
output "v" {
  value = module.b.v
}
#= file b/main.tf
output "v" {
  value = "${path.module} ${basename(path.root)}"
}
#= plan
module "m" {
  source = "./a"
}
output "o" {
  value = module.m.v
}

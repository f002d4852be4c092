#= file child/main.tf
module "deeper" {
  source = "./deeper"
}
output "paths" {
  value = [path.module, path.root, module.deeper.path]
}
output "text" {
  value = file("${path.module}/text.txt")
}
#= file child/text.txt
some text
#= file child/deeper/main.tf
output "path" {
  value = path.module
}
#= apply
module "m" {
  source = "./child"
}
output "m" {
  value = [module.m, path.module, basename(abspath(path.module)) != ""]
}

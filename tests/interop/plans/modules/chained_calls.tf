#= file child/main.tf
variable "v" {}
output "v" {
  value = "${var.v}+"
}
output "kept" {
  value = var.v
}
#= apply
module "a" {
  source = "./child"
  v      = module.b.v
}
module "b" {
  source = "./child"
  v      = module.c["x"].v
}
module "c" {
  source   = "./child"
  for_each = toset(["x"])
  v        = each.key
}
module "own" {
  source = "./child"
  v      = "start"
}
output "v" {
  value = module.a.v
}

#= file child/main.tf
variable "names" {
  type = set(string)
}
resource "terraform_data" "it" {
  for_each = var.names
  input    = each.key
}
output "all" {
  value = terraform_data.it
}
#= apply
module "m" {
  source = "./child"
  names  = ["a", "b"]
}
module "n" {
  source = "./child"
  names  = [for one in module.m.all : one.input]
}
output "n" {
  value = keys(module.n.all)
}
#= apply
module "m" {
  source = "./child"
  names  = ["b", "c"]
}
module "n" {
  source = "./child"
  names  = [for one in module.m.all : one.input]
}
output "n" {
  value = keys(module.n.all)
}

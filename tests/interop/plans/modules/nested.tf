#= file outer/main.tf
variable "prefix" {}
module "inner" {
  source   = "../inner"
  for_each = toset(["p", "q"])
  name     = "${var.prefix}-${each.key}"
}
module "lone" {
  source = "./deep"
  list   = [for key, one in module.inner : one.id]
}
output "names" {
  value = { for key, one in module.inner : key => one.id }
}
output "joined" {
  value = module.lone.joined
}
#= file outer/deep/main.tf
variable "list" {
  type = list(string)
}
resource "terraform_data" "joined" {
  input = join("+", var.list)
}
output "joined" {
  value = terraform_data.joined.output
}
#= file inner/main.tf
variable "name" {
  type = string
}
resource "terraform_data" "it" {
  count = 2
  input = "${var.name}-${count.index}"
}
output "id" {
  value = terraform_data.it[1].output
}
#= apply
module "outer" {
  source = "./outer"
  count  = 2
  prefix = "o${count.index}"
}
output "names" {
  value = module.outer[*].names
}
output "joined" {
  value = module.outer[1].joined
}
#= apply
module "outer" {
  source = "./outer"
  count  = 1
  prefix = "o${count.index}"
}
#= apply

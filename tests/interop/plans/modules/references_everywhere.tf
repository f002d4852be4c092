#= file child/main.tf
variable "v" {
  default = 1
}
resource "terraform_data" "it" {
  input = var.v
}
output "object" {
  value = { list = [terraform_data.it.output, 2], text = "t" }
}
output "id" {
  description = "Some id."
  value       = terraform_data.it.id
  depends_on  = [terraform_data.it]
}
#= plan
variable "n" {
  default = 2
}
locals {
  index = 0
}
module "one" {
  source = "./child"
}
module "many" {
  source     = "./child"
  count      = var.n
  v          = "${module.one.object.text}-${count.index}"
  depends_on = [terraform_data.x, module.one]
}
module "each" {
  source   = "./child"
  for_each = { a = module.one.object.text }
  v        = each.value
}
resource "terraform_data" "x" {
  input = [module.one.object.list[0], module.one["object"].text]
}
resource "terraform_data" "y" {
  input = [
    module.many[0].object.text,
    module.many[local.index].object.list[1],
    module.many[*].id,
    module.each["a"].object.list,
    module.each["a"],
    [for key, one in module.each : one.id],
    module.one,
  ]
}

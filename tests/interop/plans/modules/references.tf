#= file child/main.tf
output "known" {
  value = 1
}
output "list" {
  value = [1]
}
#= validate
module "one" {
  source = "./child"
}
module "many" {
  source = "./child"
  count  = 2
}
output "undeclared" {
  value = module.non.known
}
#= validate
module "one" {
  source = "./child"
}
output "no_output" {
  value = module.one.knwon
}
#= validate
module "many" {
  source = "./child"
  count  = 2
}
output "no_key" {
  value = module.many.known
}
#= validate
module "one" {
  source = "./child"
}
output "too_many_keys" {
  value = module.one[0].known
}
#= plan
module "many" {
  source = "./child"
  count  = 2
}
output "beyond" {
  value = module.many[2].known
}
#= plan
module "many" {
  source   = "./child"
  for_each = { a = 1 }
}
output "beyond" {
  value = module.many["b"].known
}
#= validate
module "one" {
  source = "./child"
}
resource "terraform_data" "x" {
  depends_on = [module.one.known]
}

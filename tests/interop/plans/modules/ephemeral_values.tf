#= file child/main.tf
variable "secret" {
  ephemeral = true
  default   = null
}
variable "plain" {
  default = null
}
output "secret" {
  value     = var.secret
  ephemeral = true
}
output "plain" {
  value = var.plain
}
#= plan
module "m" {
  source = "./child"
  secret = terraform.applying
}
output "is_null" {
  value = ephemeralasnull(module.m.secret) == null
}
#= plan
module "m" {
  source = "./child"
  plain  = terraform.applying
}
#= plan
module "m" {
  source = "./child"
  secret = "plain"
}
output "leak" {
  value = module.m.secret
}
#= file child/main.tf
variable "secret" {
  ephemeral = true
}
output "secret" {
  value = var.secret
}
#= plan
module "m" {
  source = "./child"
  secret = terraform.applying
}
#= file child/main.tf
output "secret" {
  value     = "not ephemeral"
  ephemeral = true
}
#= plan
module "m" {
  source = "./child"
}
output "leak" {
  value = module.m.secret
}

#= file child/main.tf
variable "plain" {}
variable "secret" {
  sensitive = true
}
resource "terraform_data" "it" {
  input = { plain = var.plain, secret = var.secret }
}
output "plain" {
  value = var.plain
}
output "secret" {
  value = var.secret
}
output "declared" {
  value     = "known to be secret"
  sensitive = true
}
output "mixed" {
  value = terraform_data.it.output
}
#= apply
module "m" {
  source = "./child"
  plain  = sensitive("a")
  secret = "b"
}
output "plain" {
  value     = module.m.plain
  sensitive = true
}
output "open" {
  value = nonsensitive(module.m.secret)
}
output "mixed" {
  value     = module.m.mixed
  sensitive = true
}
resource "terraform_data" "copy" {
  input = module.m.declared
}
#= plan
module "m" {
  source = "./child"
  plain  = sensitive("a")
  secret = "b"
}
output "leak" {
  value = module.m.secret
}
#= plan
module "m" {
  source = "./child"
  plain  = "a"
  secret = "b"
}
output "leak" {
  value = module.m.declared
}
#= plan
module "m" {
  source = "./child"
  count  = 1
  plain  = "a"
  secret = "b"
}
output "leak" {
  value = module.m[0].declared
}
#= plan
module "m" {
  source = "./child"
  count  = 1
  plain  = "a"
  secret = "b"
}
output "leak" {
  value = module.m[*].declared
}

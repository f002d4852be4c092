#= file child/main.tf
resource "terraform_data" "first" {
  input = 1
}
resource "terraform_data" "second" {
  input = terraform_data.first.output
}
output "constant" {
  value = "c"
}
#= file user/main.tf
variable "v" {
  default = 0
}
resource "terraform_data" "user" {
  input = var.v
}
output "id" {
  value = terraform_data.user.output
}
#= apply
module "base" {
  source = "./child"
}
module "user" {
  source     = "./user"
  depends_on = [module.base]
}
module "value" {
  source = "./user"
  v      = module.base.constant
}
resource "terraform_data" "end" {
  depends_on = [module.user]
}
#= plan

#= file state/terraform.tfstate
{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"b1","outputs":{"o":{"value":"v","type":"string"}},"resources":[],"check_results":null}
#= file leaf/main.tf
data "terraform_remote_state" "it" {
  backend = "local"
  config = {
    path = "state/terraform.tfstate"
  }
}
output "o" {
  value = data.terraform_remote_state.it.outputs.o
}
#= file middle/main.tf
resource "terraform_data" "own" {
  input = "own"
}
module "leaf" {
  source = "../leaf"
}
module "behind" {
  source     = "../leaf"
  depends_on = [terraform_data.own]
}
output "o" {
  value = [module.leaf.o, module.behind.o]
}
#= plan
resource "terraform_data" "before" {
  input = 1
}
module "pair" {
  source = "./middle"
}
module "middle" {
  source     = "./middle"
  count      = 2
  depends_on = [module.pair]
}
data "terraform_remote_state" "direct" {
  backend = "local"
  config = {
    path = "state/terraform.tfstate"
  }
  depends_on = [module.pair]
}
output "o" {
  value = module.middle[*].o
}
#= apply
module "pair" {
  source = "./middle"
}
module "middle" {
  source     = "./middle"
  count      = 2
  depends_on = [module.pair]
}
#= plan

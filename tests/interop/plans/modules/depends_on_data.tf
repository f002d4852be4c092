#= file state/terraform.tfstate
{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"b1","outputs":{"o":{"value":"v","type":"string"}},"resources":[],"check_results":null}
#= file child/main.tf
data "terraform_remote_state" "it" {
  backend = "local"
  config = {
    path = "state/terraform.tfstate"
  }
}
resource "terraform_data" "copy" {
  input = data.terraform_remote_state.it.outputs.o
}
output "o" {
  value = data.terraform_remote_state.it.outputs.o
}
#= plan
resource "terraform_data" "before" {
  input = 1
}
module "free" {
  source = "./child"
}
module "waits" {
  source     = "./child"
  depends_on = [terraform_data.before]
}
output "all" {
  value = [module.free.o, module.waits.o]
}
#= apply
resource "terraform_data" "before" {
  input = 1
}
module "waits" {
  source     = "./child"
  depends_on = [terraform_data.before]
}
#= plan
resource "terraform_data" "before" {
  input = 1
}
module "waits" {
  source     = "./child"
  depends_on = [terraform_data.before]
}
#= apply
resource "terraform_data" "before" {
  input = 2
}
module "waits" {
  source     = "./child"
  depends_on = [terraform_data.before]
}

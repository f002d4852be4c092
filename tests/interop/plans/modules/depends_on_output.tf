#= file state/terraform.tfstate
{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"b1","outputs":{"o":{"value":"v","type":"string"}},"resources":[],"check_results":null}
#= file child/main.tf
resource "terraform_data" "behind" {
  input = 1
}
resource "terraform_data" "apart" {
  input = 2
}
output "o" {
  value = terraform_data.behind.output
}
output "constant" {
  value = 1
}
#= apply
module "m" {
  source = "./child"
}
data "terraform_remote_state" "waits" {
  backend = "local"
  config = {
    path = "state/terraform.tfstate"
  }
  depends_on = [module.m.o]
}
data "terraform_remote_state" "free" {
  backend = "local"
  config = {
    path = "state/terraform.tfstate"
  }
  depends_on = [module.m.constant]
}
resource "terraform_data" "after" {
  depends_on = [module.m.o]
}

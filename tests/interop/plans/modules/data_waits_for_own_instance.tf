#= file state/terraform.tfstate
{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"b1","outputs":{"o":{"value":"v","type":"string"}},"resources":[],"check_results":null}
#= file child/main.tf
variable "v" {}
resource "terraform_data" "it" {
  input = var.v
}
data "terraform_remote_state" "it" {
  backend = "local"
  config = {
    path = "state/terraform.tfstate"
  }
  depends_on = [terraform_data.it]
}
#= apply
module "m" {
  source   = "./child"
  for_each = { a = 1, b = 2 }
  v        = each.value
}
#= apply
module "m" {
  source   = "./child"
  for_each = { a = 1, b = 3 }
  v        = each.value
}

#= file child/main.tf
variable "v" {}
resource "terraform_data" "a" {
  input = var.v
}
resource "terraform_data" "b" {
  input = 1
  lifecycle {
    replace_triggered_by = [terraform_data.a]
  }
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

#= file child/main.tf
resource "terraform_data" "it" {
  input = 1
  lifecycle {
    prevent_destroy = true
  }
}
#= apply
module "m" {
  source = "./child"
  count  = 2
}
#= plan
module "m" {
  source = "./child"
  count  = 1
}
#= plan

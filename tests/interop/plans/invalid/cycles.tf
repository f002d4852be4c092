# Things that stand on themselves.
#= plan
resource "terraform_data" "a" {
  input = terraform_data.b.id
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
#= plan
locals {
  x = local.y
  y = local.x
}
#= plan
resource "terraform_data" "a" {
  input = terraform_data.a.id
}

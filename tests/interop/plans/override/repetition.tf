#= file override.tf
resource "terraform_data" "a" {
  for_each = toset(["x"])
}
resource "terraform_data" "b" {
  count = 1
}
module "m" {
  for_each = toset(["x"])
}
#= file module/main.tf
resource "terraform_data" "in" {}
#= plan
resource "terraform_data" "a" {
  count = 2
}
resource "terraform_data" "b" {
  for_each = toset(["x", "y"])
}
module "m" {
  source = "./module"
  count  = 2
}
#= file override.tf
resource "terraform_data" "a" {
  count    = 1
  for_each = toset(["x"])
}
resource "terraform_data" "b" {
  count = 1
}
#= validate
resource "terraform_data" "a" {
  count = 2
}
resource "terraform_data" "b" {
  count    = 1
  for_each = toset(["x", "y"])
}
#= file override.tf
output "o" {
  depends_on = [terraform_data.a]
}
#= validate
resource "terraform_data" "a" {}
output "o" {
  value = 1
}

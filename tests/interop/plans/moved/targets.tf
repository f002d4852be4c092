#= apply
resource "terraform_data" "a" {}
resource "terraform_data" "b" {}
#= plan -target=terraform_data.a2
moved {
  from = terraform_data.a
  to   = terraform_data.a2
}
resource "terraform_data" "a2" {}
resource "terraform_data" "b" {
  input = 1
}
#= plan -target=terraform_data.b
#= apply -target=terraform_data.a2 -target=terraform_data.a

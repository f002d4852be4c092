#= plan
import {
  to = terraform_data.a
  id = terraform_data.b.id
}
resource "terraform_data" "a" {}
resource "terraform_data" "b" {}
resource "terraform_data" "c" {
  input = terraform_data.a.id
}
#= validate
#= apply -target=terraform_data.b
#= apply

#= apply
resource "terraform_data" "a" {}
#= apply
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
import {
  to = terraform_data.b
  id = "taken"
}
resource "terraform_data" "b" {}
#= plan

#= apply
resource "terraform_data" "a" {}
#= apply
import {
  to = terraform_data.a
  id = "other"
}
resource "terraform_data" "a" {}

#= apply
import {
  to = terraform_data.a
  id = "first"
}
resource "terraform_data" "a" {}
output "id" {
  value = terraform_data.a.id
}
#= plan

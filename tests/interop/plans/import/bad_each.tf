#= validate
import {
  to = terraform_data.b
  id = each.key
}
resource "terraform_data" "b" {}

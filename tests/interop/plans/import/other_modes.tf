#= plan -refresh-only
import {
  to = terraform_data.a
  id = "x"
}
resource "terraform_data" "a" {}
#= plan -destroy
#= plan -refresh=false
#= plan -replace=terraform_data.a

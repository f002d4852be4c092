terraform {
  required_providers {
    null = { source = "hashicorp/null" }
  }
}
#= apply
resource "null_resource" "a" {
  triggers = { x = "1" }
}
#= plan
moved {
  from = null_resource.a
  to   = terraform_data.a
}
resource "terraform_data" "a" {
  triggers_replace = { x = "1" }
}
#= apply
#= plan

# Providers that no lock file selects, beside other mistakes.
#= validate
terraform {
  required_providers {
    gone = { source = "example.com/no/gone" }
  }
}
resource "gone_thing" "x" {}
#= plan
#= plan
terraform {
  required_providers {
    gone = { source = "example.com/no/gone" }
  }
}
resource "gone_thing" "x" {
  a = terraform_data.none.id
}
#= validate

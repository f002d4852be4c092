# Requirements that are not met.
#= plan
terraform {
  required_version = ">= 99"
}
#= plan
terraform {
  nonesuch = 1
}
#= plan
terraform {
  required_version = "not a version"
}

#= apply
ephemeral "test_token" "t" {
  name = "t"
}
provider "test" {
  alias  = "late"
  secret = ephemeral.test_token.t.token
}
resource "test_thing" "a" {
  provider = test.late
  name     = "a"
}
#= plan
#= apply
variable "v" {
  default   = "v"
  ephemeral = true
}
ephemeral "test_token" "t" {
  name = "t"
}
locals {
  both = "${var.v}${ephemeral.test_token.t.token}"
}
provider "test" {
  alias  = "late"
  secret = local.both
}
resource "test_thing" "a" {
  provider = test.late
  name     = "a"
  list     = ["x"]
}
#= save -var v=w
#= use
#~ .apply.said: a place is named where Terraform names none
#= plan -refresh=false
#= apply -destroy

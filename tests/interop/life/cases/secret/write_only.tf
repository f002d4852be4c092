#= apply
variable "s" {
  default   = "one"
  ephemeral = true
}
resource "test_thing" "a" {
  name              = "a"
  secret_wo         = var.s
  secret_wo_version = 1
}
#= plan -var=s=other
#= apply
variable "s" {
  default   = "longer"
  ephemeral = true
}
resource "test_thing" "a" {
  name              = "a"
  secret_wo         = var.s
  secret_wo_version = 2
}
#= run taint test_thing.a
#= apply

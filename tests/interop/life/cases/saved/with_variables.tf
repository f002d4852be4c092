#= save -var v=one -var s=secret -var e=passing
variable "v" {}
variable "s" {
  sensitive = true
}
variable "e" {
  ephemeral = true
  default   = "default"
}
variable "d" {
  default = "d"
}
resource "test_thing" "a" {
  name   = var.v
  secret = var.s
  value  = var.d
}
resource "test_thing" "b" {
  name              = "b"
  secret_wo         = var.e
  secret_wo_version = 1
}
output "s" {
  value     = var.s
  sensitive = true
}
#= run apply -no-color -var e=other kept.plan
#= run apply -no-color -var e=passing -var v=one kept.plan
#= run apply -no-color -var e=passing kept.plan
#= env TF_VAR_v=two
#= env TF_VAR_s=other
#= save
#= env TF_VAR_v=three
#= use
#= plan

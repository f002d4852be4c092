#= apply
resource "terraform_data" "a" {
  input = { x = [1, 2], s = sensitive("s") }
}
output "o" {
  value     = terraform_data.a.output
  sensitive = true
}
output "n" {
  value = 1.50
}
#= run state mv -no-color -state-out=other.tfstate terraform_data.a terraform_data.b
#= plan
data "terraform_remote_state" "r" {
  backend = "local"
  config  = { path = "${path.module}/terraform.tfstate" }
}
output "n" {
  value = data.terraform_remote_state.r.outputs.n
}
#= apply
data "terraform_remote_state" "r" {
  backend  = "local"
  config   = { path = "${path.module}/none.tfstate" }
  defaults = { n = "none" }
}
output "n" {
  value = data.terraform_remote_state.r.outputs
}
#= apply
resource "terraform_data" "p" {
  input = "terraform.tfstate"
}
data "terraform_remote_state" "r" {
  backend   = "local"
  workspace = "two"
  config    = { path = terraform_data.p.output }
  defaults  = { n = "none" }
}
resource "terraform_data" "u" {
  input = data.terraform_remote_state.r.outputs
}
#= plan
#= apply -destroy

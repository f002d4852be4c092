#= validate
check "c" {
  data "terraform_remote_state" "x" {
    backend = "local"
  }
  assert {
    condition     = data.terraform_remote_state.x.outputs != null
    error_message = "no"
  }
}
check "d" {
  assert {
    condition     = data.terraform_remote_state.x.outputs != null
    error_message = "no"
  }
}
output "o" {
  value = data.terraform_remote_state.x
}
locals {
  l = data.terraform_remote_state.x.outputs
}
resource "terraform_data" "a" {
  input = data.terraform_remote_state.x.outputs
}

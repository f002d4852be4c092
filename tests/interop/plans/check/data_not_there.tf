#= apply
resource "terraform_data" "a" {
  input = 1
}
check "c" {
  data "terraform_remote_state" "x" {
    backend = "local"
    config  = { path = "missing.tfstate" }
  }
  assert {
    condition     = data.terraform_remote_state.x.outputs.p == 1
    error_message = "differs"
  }
}

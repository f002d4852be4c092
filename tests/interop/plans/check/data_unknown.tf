#= plan
resource "terraform_data" "a" {
  input = "local"
}
check "c" {
  data "terraform_remote_state" "x" {
    backend = terraform_data.a.output
    config  = { path = "other.tfstate" }
  }
  assert {
    condition     = data.terraform_remote_state.x.outputs.p == 1
    error_message = "differs"
  }
}

#= file other.tfstate
{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "x", "outputs": {"p": {"value": 1, "type": "number"}}, "resources": [], "check_results": null}
#= apply
resource "terraform_data" "a" {
  input = 1
}
check "c" {
  data "terraform_remote_state" "x" {
    backend = "local"
    config  = { path = "other.tfstate" }
  }
  assert {
    condition     = data.terraform_remote_state.x.outputs.p == terraform_data.a.input
    error_message = "differs"
  }
}
#= plan
#= apply
resource "terraform_data" "a" {
  input = 2
}
check "c" {
  data "terraform_remote_state" "x" {
    backend = "local"
    config  = { path = "other.tfstate" }
  }
  assert {
    condition     = data.terraform_remote_state.x.outputs.p == terraform_data.a.input
    error_message = "differs"
  }
}
#= plan -refresh-only
#= plan -target=terraform_data.a
#= apply
resource "terraform_data" "a" {
  input = 2
}

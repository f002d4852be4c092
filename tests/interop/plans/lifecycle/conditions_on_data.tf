#= file other.tfstate
{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "x", "outputs": {"p": {"value": 1, "type": "number"}}, "resources": [], "check_results": null}
#= apply
data "terraform_remote_state" "x" {
  backend = "local"
  config  = { path = "other.tfstate" }
  lifecycle {
    precondition {
      condition     = path.module == "."
      error_message = "not here"
    }
    postcondition {
      condition     = self.outputs.p == 1
      error_message = "p is ${self.outputs.p}"
    }
  }
}
output "p" {
  value = data.terraform_remote_state.x.outputs.p
}
#= plan
data "terraform_remote_state" "x" {
  backend = "local"
  config  = { path = "other.tfstate" }
  lifecycle {
    postcondition {
      condition     = self.outputs.p == 2
      error_message = "p is ${self.outputs.p}"
    }
  }
}

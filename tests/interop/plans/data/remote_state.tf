# Outputs of another state.
#= file other.tfstate
{
  "version": 4,
  "terraform_version": "1.11.4",
  "serial": 1,
  "lineage": "11111111-2222-3333-4444-555555555555",
  "outputs": {
    "text": { "value": "t", "type": "string" },
    "list": { "value": [1, 2], "type": ["list", "number"] },
    "secret": { "value": "s", "type": "string", "sensitive": true }
  },
  "resources": [],
  "check_results": null
}
#= apply
data "terraform_remote_state" "other" {
  backend = "local"
  config = {
    path = "${path.module}/other.tfstate"
  }
  defaults = {
    missing = "default"
    text    = "not this"
  }
}
resource "terraform_data" "a" {
  input = data.terraform_remote_state.other.outputs.text
}
output "all" {
  value     = data.terraform_remote_state.other.outputs
  sensitive = true
}
#= plan
#= plan
data "terraform_remote_state" "other" {
  backend = "local"
  config = {
    path = "missing.tfstate"
  }
}
output "all" {
  value = data.terraform_remote_state.other.outputs
}

# A data source that can only be read while applying.
#= file other.tfstate
{
  "version": 4,
  "terraform_version": "1.11.4",
  "serial": 1,
  "lineage": "11111111-2222-3333-4444-555555555555",
  "outputs": { "text": { "value": "t", "type": "string" } },
  "resources": [],
  "check_results": null
}
#= apply
resource "terraform_data" "path" {
  input = "other.tfstate"
}
data "terraform_remote_state" "unknown" {
  backend = "local"
  config = {
    path = terraform_data.path.output
  }
}
data "terraform_remote_state" "after" {
  backend = "local"
  config = {
    path = "other.tfstate"
  }
  depends_on = [terraform_data.path]
}
output "text" {
  value = data.terraform_remote_state.unknown.outputs.text
}
#= plan
#= plan
locals {}

# A data source in several instances, and with conditions.
#= file x.tfstate
{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"a","outputs":{"o":{"value":"x","type":"string"}},"resources":[],"check_results":null}
#= file y.tfstate
{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"b","outputs":{"o":{"value":"y","type":"string"}},"resources":[],"check_results":null}
#= apply
data "terraform_remote_state" "s" {
  for_each = toset(["x", "y"])
  backend  = "local"
  config   = { path = "${each.key}.tfstate" }
  lifecycle {
    postcondition {
      condition     = self.outputs.o == each.key
      error_message = "Another."
    }
  }
}
output "o" {
  value = { for key, one in data.terraform_remote_state.s : key => one.outputs.o }
}
#= plan
#= plan -target=data.terraform_remote_state.s["x"]

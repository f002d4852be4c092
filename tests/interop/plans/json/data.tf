#= file s.tfstate
{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"x","outputs":{"a":{"value":"b","type":"string"}},"resources":[],"check_results":null}
#= file main.tf.json
{
  "data": {"terraform_remote_state": {"s": {"backend": "local", "config": {"path": "${path.module}/s.tfstate"}, "_": {"defaults": {"z": 1}}}}},
  "output": {"o": {"value": "${data.terraform_remote_state.s.outputs}"}}
}
#= plan

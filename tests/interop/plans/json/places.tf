# Where a mistake is, in files that have no blocks.
#= file more.tf.json
{
  "resource": {
    "terraform_data": {
      "x": {"input": "${upper(var.s, var.s)}"},
      "y": [{"count": "${tonumber(\"z\")}"}]
    }
  },
  "output": {
    "o": {"value": ["${merge(1,2)}", "${nosuch(1)}"]}
  },
  "locals": [{"a": 1}, {"b": "${tonumber([])}"}]
}
#= validate
variable "s" {
  default = "x"
}
#= file more.tf.json
{"resource": {"terraform_data": {"x": {"input": "${var.nope}"}}}, "output": {"z": {"value": "${terraform_data.nope.id}"}}}
#= validate
variable "s" {
  default = "y"
}
#= file more.tf.json
{"resource": {"terraform_data": {"x": {"inputs": 1}}}, "nonesuch": {}}
#= validate
variable "s" {
  default = "z"
}

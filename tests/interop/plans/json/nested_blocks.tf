#= file main.tf.json
{
  "variable": {"v": {"default": 7, "validation": [
      {"condition": "${var.v > 1}", "error_message": "one"},
      {"condition": "${var.v > 8}", "error_message": "v is ${var.v}"}
  ]}},
  "output": {"v": {"value": "${var.v}"}}
}
#= plan

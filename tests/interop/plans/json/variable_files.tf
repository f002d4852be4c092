#= file main.tf.json
{"variable": {"a": {"type": "string"}, "b": {}, "c": {"type": "list(number)"}}, "output": {"o": {"value": ["${var.a}", "${var.b}", "${var.c}"]}}}
#= file terraform.tfvars.json
{"a": "${not.a.template}", "b": {"x": [1.50, null]}, "c": ["1", 2]}
#= plan
#= file z.auto.tfvars.json
{"a": 5, "zz": 1}
#= plan
#= file z.auto.tfvars.json
{"a": 5, "c": "x"}
#= plan
#= file z.auto.tfvars.json
{"a": 5, "b": tru}
#= plan
#= file z.auto.tfvars.json
"x"
#= plan

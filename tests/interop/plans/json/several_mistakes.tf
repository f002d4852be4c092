#= file main.tf.json
{"locals": {"a": nul, "b": bogus, "c": 1.2.3}}
#= validate
#= file main.tf.json
{"locals": {"a-b": 1, "1": 2, "c d": 3}}
#= validate
#= file main.tf.json
{"variable": {"c": {"default": 1, "validation": [{"condition": "true", "error_message": 1}]}}}
#= validate
#= file main.tf.json
{"resource": null, "variable": "y", "data": {"a": 1}}
#= validate
#= file main.tf.json
{"output": {"a": {"value": "${local.x}"}, "b": {"value": "${foo()}"}, "c": {"value": {"a": 1, "${\"a\"}": 2}}}}
#= validate
#= file main.tf.json
{"import": [{"to": 1, "id": "x"}, {"to": ["a.b"], "id": "x"}, {"to": null, "id": "x"}, {"to": {"a": 1}, "id": "y"}]}
#= validate

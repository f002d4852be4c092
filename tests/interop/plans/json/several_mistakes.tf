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
#= file main.tf.json
{"resource": {"terraform_data": {"b": "nope", "a": {"inputt": 1, "lifecycle": {"create_before_destroyy": true}}}, "x": 5}, "output": {"o": {}, "p": {"value": 1, "value": 2}}, "variable": {"v": {"type": "strin"}, "w": {"nope": 1}}}
#= validate
#= file main.tf.json
{"output": {"o": {"value": "${local.x}"}}, "resource": {"terraform_data": {"a": {"inputt": 1}}}}
#= validate

#= file main.tf.json
{"nope": {}}
#= validate
#= file main.tf.json
{"//": "${", "locals": {"//": "${", "a": {"//": "b"}}}
#= validate
#= file main.tf.json
{"locals": {"a": 1, "a": 2}}
#= validate
#= file main.tf.json
{"locals": {"a": {"b":1,"b":2}}}
#= validate
#= file main.tf.json
{"locals": [{"a": 1}, {"b": 2}, {"a": 3}]}
#= validate
#= file main.tf.json
[{"locals": {"a":1}}, {"output": {"x": {"value": "${local.a}"}}}]
#= validate
#= file main.tf.json
{"output": {"x": {"value": "${local.a}"}}}
#= validate
#= file main.tf.json
{"output": {"x": {"value": "${"}}}
#= validate
#= file main.tf.json
{"output": {"x": {}}}
#= validate
#= file main.tf.json
{"output": {"x": [{"value":1},{"value":2}]}}
#= validate
#= file main.tf.json
{"output": {"x": 1}}
#= validate
#= file main.tf.json
{"output": "x"}
#= validate
#= file main.tf.json
{"output": {"x": {"value":1, "valeu": 2}}}
#= validate
#= file main.tf.json
{"output": [{"x": {"value":1}}, {"y": {"value":1}}]}
#= validate
#= file main.tf.json
{"resource": {"terraform_data": {}}}
#= validate
#= file main.tf.json
{"resource": {"terraform_data": "x"}}
#= validate
#= file main.tf.json
{"resource": [{"terraform_data": [{"x": [{}]}]}]}
#= validate
#= file main.tf.json
{"resource": {"terraform_data": {"x": {"lifecycle": [], "depends_on": "x.y"}}}}
#= validate
#= file main.tf.json
{"resource": {"terraform_data": {"x": {"lifecycle": null, "depends_on": ["x.y"]}}}}
#= validate
#= file main.tf.json
{"resource": {"terraform_data": {"x": {"inputt": 1}}}}
#= validate

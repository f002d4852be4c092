#= file main.tf.json
{"variable": {"x": {"type": "string", "default": "${a"}, "y": {"type": "list(nope)"}, "z": {"type": "${string}"}, "w": {"type": ["string"]}, "q": {"type":"list"}, "r": {"type": "string", "description": "${x}"}}}
#= validate
#= file main.tf.json
{"resource": {"terraform_data": {"x": {"lifecycle": {"ignore_changes": ["input.", "${input}", "all", 1]}}}}}
#= validate
#= file main.tf.json
{"resource": {"terraform_data": {"x": {"lifecycle": {"ignore_changes": "input"}}}}}
#= validate
#= file main.tf.json
{"resource": {"terraform_data": {"x": {"lifecycle": {"create_before_destroy": "${true}", "prevent_destroy": "false"}}}}}
#= validate
#= file main.tf.json
{"moved": {"from": "terraform_data.a", "to": "terraform_data.b[\"x\"]"}, "resource": {"terraform_data": {"b": {"for_each": ["x"]}}}}
#= validate
#= file main.tf.json
{"moved": [{"from": "terraform_data.a", "to": "${terraform_data.b}"}], "removed": {"from": "terraform_data.zz", "lifecycle": {"destroy": false}}, "resource": {"terraform_data": {"b": {}}}}
#= validate
#= file main.tf.json
{"terraform": {"required_version": ">= 9.0"}}
#= validate
#= file main.tf.json
{"output": {"x": {"value": "${local.a.b", "descripton": 1}, "y": {"value": ["${nope.a}", "${1 +}"]}}}
#= validate
#= file main.tf.json
{"output": {"x": {"value": "é${ local.zz }"}, "y": {"value": "\u00e9${ local.zz }"}}}
#= validate
#= file main.tf.json
{"locals": null, "output": null, "resource": {"terraform_data": null}}
#= validate
#= file main.tf.json
{"output": {"x": {"//": 1, "value": 1, "precondition": {"condition": "true", "error_message": "a"}}}}
#= validate
#= file main.tf.json
{"resource": {"terraform_data": {"//": "c", "x": {"input": 1}}}}
#= validate
#= file main.tf.json
{"output": {"b": {"value": {"x${1}": 1, "x1": 2}}}}
#= validate
#= file main.tf.json
{"output": {"b": {"value": {"${null}": 1, "${[]}": 2}}}}
#= validate
#= file main.tf.json
{"resource": {"terraform_data": {"x": [{"input": 1}, 1]}}}
#= validate
#= file main.tf.json
{"variable": {"a": {"default": {"a": 1, "a": 2}}, "b": {"default": [1, "a${x"], "type": "list(string)"}}}
#= validate
#= file main.tf.json
{"variable": {"a": {"validation": {"condition": "${var.a == 1}", "error_message": "x"}, "type": "", "sensitive": "yes"}}}
#= validate
#= file main.tf.json
{"resource": {"terraform_data": {"x": {"depends_on": ["terraform_data.y[0]", "${terraform_data.y}", 1, "", "a b"]}, "y": {}}}}
#= validate
#= file main.tf.json
{"resource": {"terraform_data": {"x": {"provider": "a.b.c"}, "y": {"provider": ["x"]}, "z": {"provider": "${terraform}"}}}}
#= validate

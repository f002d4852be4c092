#= file main.tf.json
{"import": {"to": "terraform_data.b", "id": "${local.x}"}, "locals": {"x": "y"}, "resource": {"terraform_data": {"b": {}}}}
#= validate
#= file main.tf.json
{"check": {"a": {"assert": {"condition": "${local.a == 1}", "error_message": "${local.a}"}}}, "locals": {"a": 1}}
#= validate
#= file main.tf.json
{"resource": {"terraform_data": {"x": {"provisioner": [{"local-exec": {"command": "echo ${self.id}", "environment": {"A": "${1}"}, "when": "destroy", "on_failure": "continue"}}], "connection": {"host": "a"}}}}}
#= validate
#= file main.tf.json
{"module": {"m": {"source": "./m", "providers": {"a.b": "c.d"}, "x": "${1}"}}}
#= validate
#= file main.tf.json
{"resource": {"terraform_data": {"x": {"dynamic": {"nope": {"for_each": [1], "content": {}}}}}}}
#= validate
#= file main.tf.json
{"variable": {"a": {"ephemeral": true, "type": "string", "default": "x"}}, "output": {"o": {"value": "${var.a}"}}}
#= validate

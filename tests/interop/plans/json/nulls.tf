#= file main.tf.json
{"locals": null, "output": {"x": {"value": null, "description": null}}, "resource": {"terraform_data": {"a": {"input": null, "lifecycle": null}}}}
#= validate
#= file main.tf.json
{"output": null, "resource": {"terraform_data": null}}
#= validate

#= file main.tf.json
[
  {"resource": [{"terraform_data": [{"a": [{"input": 1}]}, {"b": {"input": "${terraform_data.a.input}"}}]}]},
  {"output": [{"x": {"value": "${terraform_data.b.input}"}}, {"y": [{"value": 2}]}]}
]
#= apply

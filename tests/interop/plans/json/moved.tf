#= file main.tf.json
{"resource": {"terraform_data": {"a": {"input": 1}, "c": {"input": 2}}}}
#= apply
#= file main.tf.json
{
  "resource": {"terraform_data": {"b": {"input": 1, "for_each": {"k": ""}}}},
  "moved": [{"from": "terraform_data.a", "to": "terraform_data.b[\"k\"]"}],
  "removed": {"from": "terraform_data.c", "lifecycle": {"destroy": false}}
}
#= apply

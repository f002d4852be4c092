#= file main.tf.json
{
  "terraform": [{"required_version": ">= 1.0"}, {"required_version": "> 1.1", "backend": {"local": {"path": "elsewhere.tfstate"}}}],
  "output": {"x": {"value": 1}}
}
#= validate
#= file main.tf.json
{"terraform": {"required_version": ">= 9.0"}, "output": {"x": {"value": 1}}}
#= validate
#= file main.tf.json
{"terraform": {"required_version": "nine"}}
#= validate
#= file main.tf.json
{"terraform": {"required_providers": [{"null": "x"}]}}
#= validate
#= file main.tf.json
{"terraform": {"required_providers": {"a": 1, "b": {"source": "a/b/c/d"}, "c": {"versoin": "1"}}}}
#= validate

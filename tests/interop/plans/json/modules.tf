#= file m/m.tf.json
{"variable": {"a": {}, "b": {"default": "d"}}, "output": {"o": {"value": "${var.a}-${var.b}"}}}
#= file main.tf.json
{
  "module": {
    "one": {"source": "./m", "a": "${local.x}"},
    "many": [{"source": "./m", "for_each": {"k": "v"}, "a": "${each.key}", "b": {"x": "y"}.x}]
  },
  "locals": {"x": "z"}
}
#= validate
#= file main.tf.json
{
  "module": {
    "one": {"source": "./m", "a": "${local.x}"},
    "many": [{"source": "./m", "for_each": {"k": "v"}, "a": "${each.key}", "b": "${{x = 1}.x}"}]
  },
  "locals": {"x": "z"},
  "output": {"o": {"value": ["${module.one.o}", "${module.many[\"k\"].o}"]}}
}

#= file main.tf.json
{"a" 1}
#= validate
#= file main.tf.json
{"locals": {"a": 1,}}
#= validate
#= file main.tf.json
[1]
#= validate
#= file main.tf.json
[]
#= validate
#= file main.tf.json
"x"
#= validate
#= file main.tf.json
{"locals": {"a": tru}}
#= validate
#= file main.tf.json
{"locals": {"a": 01}}
#= validate
#= file main.tf.json
{'a': 1}
#= validate
#= file main.tf.json
{"locals": {"a": "\q"}}
#= validate
#= file main.tf.json
{"locals": {"a": 1}} x
#= validate

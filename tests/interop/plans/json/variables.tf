#= file main.tf.json
{
  "variable": {
    "raw": {"default": "${a} $${b} %{if"},
    "typed": {"type": "list(object({ a = string, b = optional(number, 3) }))", "default": [{"a": 1}, {"a": "x", "b": 2}]},
    "words": {"type": "any", "default": {"k${x}": ["${y}"]}, "description": "${z}", "nullable": false},
    "short": {"type": "map", "default": {"a": "b"}},
    "secret": {"sensitive": true, "default": "s", "validation": {"condition": "${var.secret != \"\"}", "error_message": "empty"}}
  },
  "output": {
    "raw": {"value": "${var.raw}"},
    "typed": {"value": "${var.typed}"},
    "words": {"value": "${var.words}"},
    "short": {"value": "${var.short}"},
    "secret": {"value": "${var.secret}", "sensitive": true}
  }
}
#= plan

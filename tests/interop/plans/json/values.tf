#= file main.tf.json
{
  "//": "a comment",
  "locals": {
    "//": "${not read",
    "number": 12.50,
    "big": 123456789012345678901234567890,
    "tiny": 1.5e-3,
    "list": [1, "a", true, null],
    "map": {"a${local.number}": 1, "//": "not a comment here", "nested": {"x": ["${local.number + 1}"]}},
    "escapes": "a\n\t\"b\\ \u00e9 \ud83d\ude00 / \/",
    "dollar": "$${x} %%{y} $x",
    "directive": "%{ for x in [1, 2] }${x},%{ endfor }",
    "wrapped": "${[for x in local.list : x]}"
  },
  "output": {
    "all": {"value": {"number": "${local.number}", "big": "${local.big}", "tiny": "${local.tiny}", "list": "${local.list}", "map": "${local.map}"}},
    "texts": {"value": ["${local.escapes}", "${local.dollar}", "${local.directive}", "${local.wrapped}"], "description": "not a ${template}"}
  }
}
#= plan

#= file main.tf.json
{
  "terraform": {"required_providers": {"test": {"source": "formwork/test"}}},
  "resource": {"test_blocks": {"a": {
    "name": "a",
    "dynamic": {
      "list": {"for_each": ["q", "r"], "iterator": "it", "content": {"text": "${it.key}-${it.value}"}},
      "map": [{"for_each": {"a": "x"}, "labels": ["${map.key}"], "content": [{"text": "${map.value}"}]}]
    }
  }}}
}
#= apply
#= file main.tf.json
{
  "terraform": {"required_providers": {"test": {"source": "formwork/test"}}},
  "resource": {"test_blocks": {"a": {
    "name": "a",
    "dynamic": {"list": {"for_each": ["q"], "iterator": "it.x", "content": {"text": "y"}}}
  }}}
}
#= validate

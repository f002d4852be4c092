#= file a.tf.json
{
  "resource": {
    "test_legacy": {
      "a": {
        "name": "a",
        "dynamic": { "rule": { "for_each": ["x"], "content": { "name": "${rule.value}" } } }
      },
      "b": {
        "name": "b",
        "rule": [{ "name": "y", "port": [] }]
      }
    }
  }
}
#= apply

#= file a.tf.json
{
  "resource": { "test_legacy": { "b": { "name": "b", "rule": [{ "name": "y" }] } } }
}
#= plan

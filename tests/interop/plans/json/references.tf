#= file main.tf.json
{"output": {"x": {"value": "${local.zz}"}, "y": {"value": ["a${terraform_data.q.id}", {"k${var.n}": 1}]}}, "resource": {"terraform_data": {"z": {"input": {"deep": ["${module.m.o}"]}, "depends_on": ["terraform_data.none"]}}}}
#= validate

# Mistakes in files in JSON syntax.
#= file base.tf
terraform {
  required_providers {
    test = {
      source = "formwork/test"
    }
  }
}
variable "s" {
  type = string
}
variable "n" {
  type = number
}
variable "l" {
  type = list(string)
}
variable "any" {}
variable "sec" {
  type      = string
  sensitive = true
}
variable "eph" {
  type      = string
  ephemeral = true
}
variable "obj" {
  type = object({ a = string, b = optional(number) })
}
locals {
  ok  = 1
  str = "x"
  lst = ["a", "b"]
  mp  = { a = 1 }
}
resource "terraform_data" "one" {
  input = 1
}
resource "terraform_data" "many" {
  count = 2
}
resource "terraform_data" "each" {
  for_each = toset(["a"])
}
resource "test_thing" "ok" {
  name = "x"
}
data "test_data" "ok" {
  name = "x"
}
module "good" {
  source = "./mod"
  a      = "x"
}
module "goods" {
  source = "./mod"
  count  = 2
  a      = "x"
}
#= file mod/main.tf
variable "a" {
  type = string
}
variable "b" {
  type    = number
  default = 1
}
variable "obj" {
  type    = object({ x = string })
  default = null
}
resource "terraform_data" "in" {
  input = var.a
}
output "o" {
  value = terraform_data.in.id
}
output "obj" {
  value = { k = var.b }
}
#= file more.tf.json
{
  "resource": {
    "terraform_data": {
      "a": {
        "input": "${local.nope}",
        "nope": 1
      },
      "b": {
        "count": "x",
        "input": "${foo()}"
      }
    }
  },
  "output": {
    "a": {
      "value": "${upper(1, 2)}"
    },
    "b": {
      "value": "${terraform_data.nope.id}"
    }
  }
}
#= validate
#= file more.tf.json
{
  "locals": {
    "a": "${local.nope} ${foo()}",
    "b": [
      "${var.nope}",
      "${terraform_data.many.id}"
    ]
  },
  "output": {
    "a": {
      "value": "${local.a}"
    }
  }
}
#= validate
#= file more.tf.json
{
  "variable": {
    "a": {
      "type": "foo"
    },
    "b": {
      "type": "number",
      "default": "x"
    },
    "c": {
      "nope": 1
    }
  },
  "output": {
    "a": {}
  }
}
#= validate
#= file more.tf.json
{
  "resource": {
    "terraform_data": {
      "a": {
        "lifecycle": {
          "nope": 1
        },
        "depends_on": "x"
      },
      "b": {
        "count": 1,
        "for_each": {}
      }
    }
  },
  "nope": {
    "a": {}
  }
}
#= validate
#= file more.tf.json
{
  "resource": {
    "test_blocks": {
      "a": {
        "list": [
          {
            "text": "${local.nope}"
          },
          {
            "nope": 1
          }
        ],
        "nope": {}
      },
      "b": {
        "dynamic": {
          "list": {
            "for_each": "${foo()}",
            "content": {
              "text": "x"
            }
          }
        }
      }
    }
  },
  "data": {
    "test_data": {
      "a": {
        "name": []
      }
    }
  }
}
#= validate
#= file more.tf.json
{
  "module": {
    "a": {
      "source": "./mod",
      "a": "${local.nope}"
    },
    "b": {
      "source": "./mod",
      "a": "x",
      "count": "${foo()}"
    }
  },
  "output": {
    "a": {
      "value": "${module.nope.o}"
    }
  }
}
#= validate
#= file more.tf.json
{
  "module": {
    "a": {
      "source": "./mod"
    },
    "b": {
      "source": "./mod",
      "a": "x",
      "nope": 1
    }
  }
}
#= validate
#= file more.tf.json
{
  "check": {
    "a": {
      "assert": {
        "condition": "${local.nope}",
        "error_message": "${foo()}"
      }
    }
  },
  "output": {
    "a": {
      "value": 1,
      "precondition": {
        "condition": "${var.nope}",
        "error_message": "no"
      }
    },
    "b": {
      "value": "${each.key}"
    }
  }
}
#= validate
#= file more.tf.json
{
  "resource": {
    "test_thing": {
      "a": {
        "name": {
          "a": 1
        },
        "tags": [
          "x"
        ],
        "computed": "x"
      },
      "b": {
        "fails": "validate"
      }
    },
    "test_nope": {
      "a": {}
    }
  }
}
#= validate
#= file more.tf.json
{
  "moved": {
    "from": "terraform_data.x",
    "to": "module.good"
  },
  "import": {
    "to": "terraform_data.one"
  },
  "removed": {
    "from": "terraform_data.x[0]"
  }
}
#= validate

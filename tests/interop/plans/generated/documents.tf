#= plan -generate-config-out=gen.tf
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
}
import {
  to = test_nested.t0
  id = jsonencode({ name = "5" })
}
import {
  to = test_nested.t1
  id = jsonencode({ name = "true" })
}
import {
  to = test_nested.t2
  id = jsonencode({ name = "null" })
}
import {
  to = test_nested.t3
  id = jsonencode({ name = "\"text\"" })
}
import {
  to = test_nested.t4
  id = jsonencode({ name = "[]" })
}
import {
  to = test_nested.t5
  id = jsonencode({ name = "{}" })
}
import {
  to = test_nested.t6
  id = jsonencode({ name = "[{\"a\": 1.50}]" })
}
import {
  to = test_nested.t7
  id = jsonencode({ name = " {\"a\" : [ ] } " })
}
import {
  to = test_nested.t8
  id = jsonencode({ name = "{\"a\":1,\"a\":2}" })
}
import {
  to = test_nested.t9
  id = jsonencode({ name = "{bad" })
}
import {
  to = test_nested.t10
  id = jsonencode({ name = "[1] x" })
}
import {
  to = test_nested.t11
  id = jsonencode({ name = "{\"a b\":\"$${x}\"}" })
}
import {
  to = test_nested.t12
  id = jsonencode({ name = "" })
}
import {
  to = test_nested.t13
  id = jsonencode({ name = "[1,[2,{\"z\":null,\"a\":1e3}]]" })
}
import {
  to = test_nested.t14
  id = jsonencode({ name = "[\"\\u00e9\\ud83d\\ude00\"]" })
}
import {
  to = test_nested.zero
  id = jsonencode({ name = "", single = { number = 0, flag = false, text = "", texts = ["", null] }, map = { "" = {} } })
}
import {
  to = test_blocks.zero
  id = jsonencode({ name = "", single = { number = 0, flag = false, text = "", texts = [] } })
}
import {
  to = test_strict.zero
  id = jsonencode({ needed = "", one = [{ needed = "" }], must = { needed = "" } })
}
import {
  to = random_pet.zero
  id = "--"
}
import {
  to = test_thing.zero
  id = "id of "
}

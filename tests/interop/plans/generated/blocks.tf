#= plan -generate-config-out=gen.tf
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
}
import {
  to = test_blocks.b
  id = jsonencode({
    id = "x", name = "[1,2]",
    group = { text = "t" , inner = { text = "x" }},
    single = { text = "t", number = 1e30, inner = { text = "deep"}}
    list = [{ text = "1", inner = [{text = "2"}, {text="{}"}]}, {text = null}]
    map = { k = { text = "1", inner = { "odd key" = {text = "2"}}}, "odd.key" = {text = "3"} }
  })
}
import {
  to = test_blocks.set
  id = jsonencode({ set = [{ text = "1", inner = [{text = "2"}]}, {text = "5"}] })
}

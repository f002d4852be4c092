#= plan -generate-config-out=gen.tf
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
}
import {
  to = test_nested.n
  id = jsonencode({
    id = "x", name = "na\"me $${x} %%{if} \n tab\t é \u0001 \\",
    single = { text = "t", number = 1.5, flag = true, texts = ["a", "b"], computed = "c", chosen = "ch", secret = "s", inner = { text = "deep", texts = [] } }
    list = [{ text = "1", inner = [{text = "2"}, {text="{\"a\":[1,\"x\",null]}"}]}, {text = null}]
    set = [{ text = "1", inner = [{text = "2"}]}, {text = "5"}]
    map = { k = { text = "1", inner = { "odd key" = {text = "2"}}}, "odd.key" = {text = "\"json string\""} }
    chosen_list = [{text = "a", computed = "c"}]
    chosen_single = {text = "a", computed = "c"}
    chosen_map = {b = {text = "a", computed = "c"}}
    computed_list = [{text = "a", computed = "c"}]
  })
}
import {
  to = test_nested.empty
  id = jsonencode({ list = [], set = [], map = {} , single = {}})
}
import {
  to = test_nested.nothing
  id = "x"
}

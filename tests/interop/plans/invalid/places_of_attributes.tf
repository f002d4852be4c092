# What is taken of a resource is held against its schema, also where `try` passes over mistakes.
#= validate
terraform {
  required_providers {
    test = {
      source = "formwork/test"
    }
  }
}
resource "test_blocks" "a" {}
resource "test_blocks" "c" {
  count = 1
  name  = try(test_blocks.a.name.foo, "x")
  lifecycle {
    postcondition {
      condition     = try(self["name"], self.nome, true)
      error_message = "no"
    }
  }
}
locals {
  a = try(test_blocks.a.list.text, 1)
  b = try(test_blocks.a.list[0].nope, 1)
  c = try(test_blocks.a.set[0], 1)
  d = can(test_blocks.a.set.text)
  e = try(test_blocks.a.map["x"].nope, test_blocks.a.map.text, 1)
  f = test_blocks.a.group.txt
  g = try(test_blocks.a.list[0].texts.foo, 1)
  h = try(test_blocks.a.name["foo"], 1)
  i = test_blocks.a.list[0]["text"]
  j = try(test_blocks.a.list[0]["te xt"], 1)
  k = test_blocks.a.group["text"]
  l = test_blocks.c[0]["name"]
  m = try(test_blocks.a.group.number[0], 1)
  n = try(test_blocks.c[0].nome, 1)
  o = try(test_blocks.c[*].nome, test_blocks.a.list[0].text.x, 1)
  p = test_blocks.a.list.text
  q = test_blocks.a.set[0].text
}
#= validate
resource "terraform_data" "a" {
  input = "x"
}
output "o" {
  value = try(terraform_data.a.nothing, "x")
}
output "p" {
  value = try(terraform_data.a.output.foo, terraform_data.a.input[0], 1)
}
output "q" {
  value = try(
    terraform_data.a
    .id
    .foo, 1)
}

#= apply
terraform {
  required_providers {
    test      = { source = "formwork/test" }
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}

variable "who" {
  default = "you"
  validation {
    condition     = provider::test::greeting(var.who) != "Hello, me"
    error_message = provider::test::greeting("nobody")
  }
}
locals {
  names = [for n in ["a", "b", "c"] : provider::test::greeting(n)]
}
provider "test" {
  value = provider::test::greeting("provider")
}
resource "test_thing" "counted" {
  count = length(provider::test::same(["a", "b"]))
  name  = provider::test::joined("-", count.index, "x")
  lifecycle {
    precondition {
      condition     = provider::test::kind(var.who) == "string"
      error_message = "kind"
    }
    postcondition {
      condition     = provider::test::kind(self.name) == "string"
      error_message = "kind"
    }
  }
}
resource "test_thing" "each" {
  for_each = toset([provider::test::greeting("a")])
  name     = each.key
}
resource "test_blocks" "dynamic" {
  dynamic "list" {
    for_each = provider::test::same(["a", "b"])
    content {
      text = provider::test::greeting(list.value)
    }
  }
}
data "test_data" "a" {
  name = provider::test::greeting("data")
}
output "names" {
  value = local.names
  precondition {
    condition     = provider::test::total([1]) == 1
    error_message = "total"
  }
}
output "template" {
  value = "<${provider::test::greeting("x")}> %{if provider::test::total([1]) == 1}yes%{endif}"
}
output "data" {
  value = data.test_data.a.result
}
#= plan

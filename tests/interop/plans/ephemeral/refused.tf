#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

ephemeral "test_token" "a" {
  name = "x"
}
resource "test_thing" "name" {
  name = ephemeral.test_token.a.token
}
resource "test_thing" "list" {
  list = [
    ephemeral.test_token.a.token,
  ]
}
resource "test_nested" "single" {
  single = {
    text = ephemeral.test_token.a.token
  }
}
resource "test_nested" "set" {
  set = [{ text = ephemeral.test_token.a.token }]
}
resource "test_blocks" "list" {
  list {
    text = ephemeral.test_token.a.token
  }
}
resource "test_blocks" "set" {
  set {
    text = ephemeral.test_token.a.token
  }
}
data "test_data" "name" {
  name = ephemeral.test_token.a.token
}
resource "terraform_data" "input" {
  input = ephemeral.test_token.a.token
}
resource "terraform_data" "triggers" {
  triggers_replace = [ephemeral.test_token.a.token]
}
output "o" {
  value = ephemeral.test_token.a.token
}
output "applying" {
  value = terraform.applying
}
#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

ephemeral "test_token" "a" {
  name = "x"
}
resource "test_thing" "count" {
  count = ephemeral.test_token.a.token == "x" ? 1 : 0
}
resource "test_thing" "set" {
  for_each = toset([ephemeral.test_token.a.token])
}
resource "test_thing" "whole" {
  for_each = ephemeral.test_token.a
}
#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

output "o" {
  value     = 1
  ephemeral = true
}

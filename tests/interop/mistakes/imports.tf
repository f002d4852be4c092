# Imports beside other mistakes.
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
#= validate
import {
  to = terraform_data.nope1
  id = "x"
}
import {
  to = terraform_data.one
  id = [1]
}
resource "terraform_data" "m3" {
  nope = 1
}
resource "terraform_data" "m4" {
  nope {}
}
#= validate
import {
  to = terraform_data.one
  id = "x"
}
import {
  to = terraform_data.one
  id = "y"
}
import {
  to = terraform_data.one
  id = null
}
data "test_nope" "m3" {
}
ephemeral "test_nope" "m4" {
}
#= validate
import {
  to = terraform_data.many
  id = "x"
}
import {
  to       = terraform_data.each[each.key]
  for_each = 1
  id       = each.value
}
resource "test_thing" "m3" {
  computed = "x"
}
resource "test_thing" "m4" {
  secret_wo_version = "x"
}
#= validate
import {
  to = terraform_data.one[0]
  id = "x"
}
import {
  to = module.good.terraform_data.nope
  id = "x"
}
resource "test_strict" "m3" {
  needed = "x"
  one {}
  one {}
  must {}
}
resource "test_strict" "m4" {
  needed = null
  one {
    needed = null
  }
  must {
    needed = "a"
  }
}
#= validate
import {
  to = terraform_data.many[local.nope]
  id = "x"
}
import {
  to = data.test_data.ok
  id = "x"
}
resource "test_blocks" "m3" {
  list "x" {
    text = "x"
  }
}
resource "test_blocks" "m4" {
  list {
    nope = 1
    inner {
      nope = 2
    }
    zip {}
  }
}
#= validate
import {
  id       = "x"
  provider = test
  to       = module.good.terraform_data.in
}
import {
  id       = "y"
  provider = test
  to       = module.absent.test_thing.m1
}

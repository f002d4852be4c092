# Keys in the addresses of imports, judged when they are known.
#= file mod/main.tf
variable "a" {
  default = 1
}
resource "terraform_data" "g" {
}
resource "terraform_data" "f" {
  for_each = toset(["x"])
}
#= validate
import {
  for_each = toset(["x"])
  to       = terraform_data.g[each.key]
  id       = "a"
}
resource "terraform_data" "g" {
}
#= plan
#= validate
import {
  for_each = toset(["x"])
  to       = terraform_data.g[each.key]
  id       = "a"
}
resource "terraform_data" "g" {
  count = 1
}
#= plan
#= validate
import {
  for_each = toset(["x"])
  to       = terraform_data.g
  id       = "a"
}
resource "terraform_data" "g" {
}
#= plan
#= validate
import {
  for_each = toset(["x"])
  to       = terraform_data.g[0]
  id       = "a"
}
resource "terraform_data" "g" {
  count = 1
}
#= plan
#= validate
import {
  for_each = toset(["x"])
  to       = terraform_data.g[each.key]
  id       = "a"
}
#= plan
#= validate
import {
  for_each = toset(["x"])
  to       = module.m[each.key].terraform_data.g
  id       = "a"
}
module "m" {
  source = "./mod"
  for_each = toset(["x"])
}
#= plan
#= validate
import {
  for_each = toset(["x"])
  to       = module.m[each.key].terraform_data.g
  id       = "a"
}
module "m" {
  source = "./mod"
}
#= plan
#= validate
import {
  for_each = toset(["x"])
  to       = module.m.terraform_data.g[each.key]
  id       = "a"
}
module "m" {
  source = "./mod"
}
#= plan
#= validate
import {
  for_each = toset(["x"])
  to       = module.m.terraform_data.nope[each.key]
  id       = "a"
}
module "m" {
  source = "./mod"
}
#= plan
#= validate
import {
  for_each = toset(["x"])
  to       = module.m.terraform_data.f[each.key]
  id       = "a"
}
module "m" {
  source = "./mod"
}
#= plan
#= validate
import {
  to       = terraform_data.g["x"]
  id       = "a"
}
resource "terraform_data" "g" {
}
#= plan
#= validate
import {
  to       = terraform_data.g["x"]
  id       = "a"
}
resource "terraform_data" "g" {
  count = 1
}
#= plan
#= validate
import {
  to       = terraform_data.g
  id       = "a"
}
resource "terraform_data" "g" {
  count = 1
}
#= plan
#= validate
import {
  to       = terraform_data.g[1]
  id       = "a"
}
resource "terraform_data" "g" {
  count = 1
}
#= plan
#= validate
import {
  for_each = { a = 0 }
  to       = terraform_data.g[each.value]
  id       = "a"
}
resource "terraform_data" "g" {
  count = 1
}
#= plan
#= validate
import {
  for_each = { a = "x" }
  to       = terraform_data.g[each.value]
  id       = "a"
}
resource "terraform_data" "g" {
  for_each = toset(["y"])
}
#= plan
#= validate
import {
  to       = terraform_data.g[0]
  id       = "a"
}
resource "terraform_data" "g" {
}
#= validate
import {
  to       = terraform_data.g[0]
  id       = "a"
}
resource "terraform_data" "g" {
  for_each = toset(["0"])
}
#= plan
#= validate
import {
  for_each = toset(["x"])
  to       = terraform_data.g[each.value]
  id       = "a"
}
resource "terraform_data" "g" {
}
#= plan
#= validate
import {
  for_each = toset(["x"])
  to       = terraform_data.g[each.value]
  id       = "a"
}
#= plan
#= validate
import {
  for_each = toset(["x"])
  to       = terraform_data.g[0]
  id       = "a"
}
#= plan
#= validate
import {
  for_each = toset(["x"])
  to       = terraform_data.g["x"]
  id       = "a"
}
#= plan
#= validate
import {
  for_each = toset(["x"])
  to       = terraform_data.g
  id       = "a"
}
#= plan
#= validate
import {
  for_each = { a = { k = 1 } }
  to       = terraform_data.g[each.value.k]
  id       = "a"
}
resource "terraform_data" "g" {
}
#= validate
import {
  for_each = { a = { k = 1 } }
  to       = terraform_data.g["${each.key}"]
  id       = "a"
}
resource "terraform_data" "g" {
  count = 1
}
#= validate
import {
  for_each = { a = { k = 1 } }
  to       = terraform_data.g["${each.key}-x"]
  id       = "a"
}
resource "terraform_data" "g" {
  for_each = toset(["a-x"])
}
#= plan
#= validate
import {
  for_each = { "0" = { k = 1 } }
  to       = terraform_data.g[each.key]
  id       = "a"
}
resource "terraform_data" "g" {
  for_each = toset(["0"])
}
#= plan
#= validate
import {
  to       = terraform_data.g["0"]
  id       = "a"
}
resource "terraform_data" "g" {
  count = 1
}
#= validate
variable "s" {
  type = set(string)
  default = ["x"]
}
import {
  for_each = var.s
  to       = terraform_data.g[each.key]
  id       = "a"
}
resource "terraform_data" "g" {
}
#= plan
#= validate
variable "s" {
  type = set(string)
  default = ["x"]
}
import {
  for_each = var.s
  to       = terraform_data.g[each.key]
  id       = "a"
}
resource "terraform_data" "g" {
  count = 1
}
#= plan
#= validate
variable "s" {
  type = set(string)
  default = ["x"]
}
import {
  for_each = var.s
  to       = terraform_data.g[each.key]
  id       = "a"
}
#= plan
#= validate
import {
  for_each = []
  to       = terraform_data.g[each.key]
  id       = "a"
}
#= validate
import {
  for_each = {}
  to       = terraform_data.g[each.key]
  id       = "a"
}
#= validate
import {
  for_each = {}
  to       = terraform_data.g
  id       = "a"
}
#= validate
import {
  for_each = {}
  to       = terraform_data.g
  id       = "a"
}
resource "terraform_data" "g" {
  count = 1
}
#= validate
import {
  for_each = {}
  to       = terraform_data.g[each.key]
  id       = "a"
}
resource "terraform_data" "g" {
}

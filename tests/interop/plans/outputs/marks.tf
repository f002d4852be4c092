# What is sensitive stays so through every expression.
#= apply
variable "secret" {
  default   = "s"
  sensitive = true
}
locals {
  in_list   = ["a", var.secret]
  in_object = { open = "o", hidden = var.secret }
  joined    = join("-", local.in_list)
  chosen    = var.secret == "s" ? "yes" : "no"
  keys      = keys(local.in_object)
  length    = length(local.in_list)
  opened    = nonsensitive(var.secret)
  is        = issensitive(local.joined)
}
resource "terraform_data" "a" {
  input = local.in_object
}
resource "terraform_data" "b" {
  input            = { open = local.in_object.open, list = local.in_list }
  triggers_replace = [var.secret, "t"]
}
output "open" {
  value = local.in_object.open
}
output "keys" {
  value = local.keys
}
output "length" {
  value = local.length
}
output "opened" {
  value = local.opened
}
output "is" {
  value = local.is
}
output "hidden" {
  value     = local.in_object
  sensitive = true
}
output "chosen" {
  value     = [local.chosen, local.joined, terraform_data.a.output]
  sensitive = true
}
#= plan
variable "secret" {
  default   = "s"
  sensitive = true
}
resource "terraform_data" "a" {
  input = { open = "o", hidden = "s" }
}
resource "terraform_data" "b" {
  input            = { open = "o", list = ["a", var.secret] }
  triggers_replace = [var.secret, "u"]
}
output "hidden" {
  value = "open from now on"
}
#= plan
variable "secret" {
  default   = "s"
  sensitive = true
}
output "o" {
  value = var.secret
}
output "p" {
  value = [for x in ["a"] : "${x}${var.secret}"]
}

# Arguments that are set twice beside other errors in their block, types and strings in wrong quotes,
# characters that are wrong everywhere, and blocks within blocks of one line.
#= validate
variable "a" {
  default = 1
  default = 2
  nope    = 1
  validation {
  }
}
resource "terraform_data" "a" {
  input = 1
  input = 2
  nope  = 3
  count = "x"
}
output "a" {
  value = nope.x
  value = 2
}
#= validate
variable "a" {
  type = "number"
}
variable "b" {
  type = "list(string)"
}
variable "c" {
  type = "list"
}
variable "d" {
  type = ""
}
#= validate
locals {
  a = 'x'
}
locals {
  b = `y`
}
locals {
  c = 'z'
}
#= validate
locals {
  a = 1 & 2
  b = 1 | 2
  c = 1 & 2
  d = 1 ^ 2
  e = ~1
  f = 1 & 3
}
#= validate
resource "terraform_data" "a" { lifecycle { prevent_destroy = true } }
resource "terraform_data" "b" { provisioner "local-exec" { command = "x" } }
#= validate
resource "terraform_data" "a" {
  provider = terraform[0]
}
resource "terraform_data" "b" {
  provider = terraform["x"]
}
resource "terraform_data" "c" {
  provider = terraform.x.y
}

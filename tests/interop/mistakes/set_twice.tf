# Arguments that are set twice beside other errors in their block, types in quotes, operators that are
# wrong everywhere, blocks within blocks of one line, and keys after the names of providers.
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
  a = 1 & 2
  b = 1 | 2
  c = 1 & 2
  d = 1 ^ 2
  e = ~1
  f = 1 & 3
}
#= validate
resource "terraform_data" "a" { lifecycle { prevent_destroy = true } }
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

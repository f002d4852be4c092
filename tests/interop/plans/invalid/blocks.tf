# Blocks that are not there, doubled, or malformed.
#= plan
resource "terraform_data" "a" {
}
resource "terraform_data" "a" {
}
#= plan
resource "terraform_data" {
}
#= plan
nonesuch "x" {
}
#= plan
variable "a" {
}
variable "a" {
}
#= plan
output "a" {
}
#= plan
locals {
  a = 1
  a = 2
}
#= plan
resource "terraform_data" "a" {
  input = 1
  input = 2
}
#= plan
resource "terraform_data" "a" {
  nonesuch = 1
}
#= plan
resource "terraform_data" "a" {
  nonesuch {
  }
}
#= plan
resource "terraform_nonesuch" "a" {
}
#= plan
resource "terraform_data" "0bad" {
}
#= plan
output "a" {
  value = 1
  other = 2
}
#= plan
variable "count" {
}

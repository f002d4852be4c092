#= apply
import {
  to = terraform_data.a
  id = "first"
}
import {
  to = terraform_data.b
  id = "second"
}
import {
  to = terraform_data.c
  id = "third"
}
resource "terraform_data" "a" {}
resource "terraform_data" "b" {
  input = "x"
}
resource "terraform_data" "c" {
  triggers_replace = "x"
}
resource "terraform_data" "d" {
  input = terraform_data.b.output
}
#= plan

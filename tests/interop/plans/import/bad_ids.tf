#= validate
import {
  to = terraform_data.a
  id = ""
}
import {
  to = terraform_data.b
  id = null
}
import {
  to = terraform_data.c
  id = ["x"]
}
resource "terraform_data" "a" {}
resource "terraform_data" "b" {}
resource "terraform_data" "c" {}

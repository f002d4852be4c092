#= validate
import {
  to = terraform_data.single[0]
  id = "x"
}
import {
  to = terraform_data.counted
  id = "x"
}
import {
  to = terraform_data.each
  id = "x"
}
resource "terraform_data" "single" {}
resource "terraform_data" "counted" {
  count = 1
}
resource "terraform_data" "each" {
  for_each = toset(["a"])
}

# Arguments of lifecycle that are none.
#= plan
resource "terraform_data" "a" {
  lifecycle {
    create_before_destroy = var.x
  }
}
variable "x" {
  default = true
}
#= plan
resource "terraform_data" "a" {
  lifecycle {
    ignore_changes = [missing]
  }
}
#= plan
resource "terraform_data" "a" {
  lifecycle {
    replace_triggered_by = [local.x]
  }
}
locals {
  x = 1
}
#= plan
resource "terraform_data" "a" {
  lifecycle {
    unknown_argument = 1
  }
}

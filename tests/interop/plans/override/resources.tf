#= file override.tf
resource "terraform_data" "x" {
  input = { a = 1 }
  lifecycle {
    create_before_destroy = false
    replace_triggered_by  = [terraform_data.y]
  }
}
resource "terraform_data" "y" {
  count      = 2
  input      = count.index
  depends_on = []
}
#= apply
resource "terraform_data" "x" {
  input            = 1
  triggers_replace = 4
  lifecycle {
    ignore_changes        = [input]
    create_before_destroy = true
    precondition {
      condition     = local.t
      error_message = "base"
    }
  }
}
resource "terraform_data" "y" {
  input = 1
  count = 1
}
locals {
  t = true
}

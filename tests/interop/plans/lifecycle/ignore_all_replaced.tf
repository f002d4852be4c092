#= apply
resource "terraform_data" "a" {
  input            = "x"
  triggers_replace = "x"
  lifecycle {
    ignore_changes = all
  }
}
resource "terraform_data" "b" {
  input = { x = 1, y = 1 }
  lifecycle {
    ignore_changes = [input]
  }
}
#= apply
resource "terraform_data" "a" {
  input            = "y"
  triggers_replace = "y"
  lifecycle {
    ignore_changes = all
  }
}
resource "terraform_data" "b" {
  input = { x = 2, y = 1 }
  lifecycle {
    ignore_changes = [input]
  }
}
#= apply -replace=terraform_data.a -replace=terraform_data.b

#= apply
resource "terraform_data" "a" {
  triggers_replace = "x"
  lifecycle {
    create_before_destroy = true
  }
}
#= apply
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
resource "terraform_data" "b" {
  triggers_replace = "y"
  lifecycle {
    create_before_destroy = true
  }
}

#= apply
resource "terraform_data" "a" {
  input = "x"
}
resource "terraform_data" "b" {
  input = terraform_data.a.output
}
#= apply
removed {
  from = terraform_data.a
}
removed {
  from = terraform_data.b
  lifecycle {
    destroy = true
  }
}

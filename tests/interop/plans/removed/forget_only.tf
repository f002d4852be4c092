#= apply
resource "terraform_data" "a" {
  input = sensitive("x")
}
#= apply
removed {
  from = terraform_data.a
  lifecycle {
    destroy = false
  }
}

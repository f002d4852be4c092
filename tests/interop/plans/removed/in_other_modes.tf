#= apply
resource "terraform_data" "a" {
  input = "x"
}
#= plan -refresh-only
removed {
  from = terraform_data.a
  lifecycle {
    destroy = false
  }
}
#= plan -refresh=false
#= apply -destroy

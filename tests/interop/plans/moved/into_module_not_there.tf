#= apply
resource "terraform_data" "a" {
  input = "x"
}
#= apply
moved {
  from = terraform_data.a
  to   = module.m["k"].terraform_data.a
}

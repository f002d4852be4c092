#= apply
resource "terraform_data" "a" {
  input = "x"
}
#= apply -refresh-only
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
resource "terraform_data" "b" {
  input = "y"
}
#= plan

#= apply
resource "terraform_data" "a" {
  input = "x"
}
#= apply
moved {
  from = terraform_data.c
  to   = terraform_data.d
}
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
moved {
  from = terraform_data.b
  to   = terraform_data.c
}
resource "terraform_data" "d" {
  input = "x"
}

#= apply
resource "terraform_data" "a" {
  input = "x"
}
#= apply
moved {
  from = terraform_data.a
  to   = terraform_data.a[1]
}
resource "terraform_data" "a" {
  count = 2
  input = "x"
}

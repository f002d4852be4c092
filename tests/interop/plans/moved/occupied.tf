#= apply
resource "terraform_data" "a" {
  input = "a"
}
resource "terraform_data" "b" {
  input = "b"
}
resource "terraform_data" "n" {
  count = 2
}
#= apply
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
moved {
  from = terraform_data.n[1]
  to   = terraform_data.n[0]
}
resource "terraform_data" "b" {
  input = "b"
}
resource "terraform_data" "n" {
  count = 1
}

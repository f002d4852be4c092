#= apply
resource "terraform_data" "a" {}
resource "terraform_data" "n" {
  count = 2
}
resource "terraform_data" "e" {
  for_each = toset(["x"])
}
#= plan
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
moved {
  from = terraform_data.n[1]
  to   = terraform_data.n[5]
}
moved {
  from = terraform_data.e["x"]
  to   = terraform_data.e["y"]
}
moved {
  from = terraform_data.e["z"]
  to   = terraform_data.e["y"]
}
moved {
  from = terraform_data.same
  to   = terraform_data.same
}
resource "terraform_data" "a" {}
resource "terraform_data" "n" {
  count = 2
}
resource "terraform_data" "e" {
  for_each = toset(["x", "y"])
}

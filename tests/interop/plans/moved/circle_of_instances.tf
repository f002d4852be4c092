#= apply
resource "terraform_data" "n" {
  count = 2
}
#= plan
moved {
  from = terraform_data.n[0]
  to   = terraform_data.n[1]
}
moved {
  from = terraform_data.n[1]
  to   = terraform_data.n[0]
}

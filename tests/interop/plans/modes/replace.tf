# Replaced on demand.
#= apply
resource "terraform_data" "a" {
  input = 1
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
resource "terraform_data" "many" {
  for_each = toset(["x", "y"])
}
#= plan -replace=terraform_data.a
#= plan -replace=terraform_data.many["x"]
#= plan -replace=terraform_data.missing
#= plan -replace=terraform_data.many

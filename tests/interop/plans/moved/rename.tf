#= apply
resource "terraform_data" "a" {
  input = "x"
}
resource "terraform_data" "b" {
  input = terraform_data.a.output
}
#= apply
moved {
  from = terraform_data.a
  to   = terraform_data.renamed
}
resource "terraform_data" "renamed" {
  input = "x"
}
resource "terraform_data" "b" {
  input = terraform_data.renamed.output
}
#= plan
#= apply
moved {
  from = terraform_data.a
  to   = terraform_data.renamed
}
moved {
  from = terraform_data.renamed
  to   = terraform_data.again
}
resource "terraform_data" "again" {
  input = "y"
}

#= apply
resource "terraform_data" "update" {
  input = "x"
}
resource "terraform_data" "replace" {
  triggers_replace = "x"
}
resource "terraform_data" "lost" {
  input = "x"
}
#= apply
moved {
  from = terraform_data.update
  to   = terraform_data.update2
}
moved {
  from = terraform_data.replace
  to   = terraform_data.replace2
}
moved {
  from = terraform_data.lost
  to   = terraform_data.lost2
}
resource "terraform_data" "update2" {
  input = "y"
}
resource "terraform_data" "replace2" {
  triggers_replace = "y"
}

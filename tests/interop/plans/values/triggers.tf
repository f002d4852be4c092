# A change of triggers_replace forces a replacement, and one that is added does too.
#= apply
resource "terraform_data" "a" {
  triggers_replace = [1, "x"]
  input            = "in"
}
resource "terraform_data" "b" {
}
resource "terraform_data" "c" {
  input = terraform_data.a.id
}
#= apply
resource "terraform_data" "a" {
  triggers_replace = [2, "x"]
  input            = "in"
}
resource "terraform_data" "b" {
  triggers_replace = { new = true }
}
resource "terraform_data" "c" {
  input = terraform_data.a.id
}
#= plan
resource "terraform_data" "a" {
  triggers_replace = [2, "x"]
  input            = "out"
}
resource "terraform_data" "b" {
}
resource "terraform_data" "c" {
  input = terraform_data.a.id
}

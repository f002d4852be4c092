# A replacement that is created first, and what it stands on and stands on it.
#= apply
resource "terraform_data" "base" {
  triggers_replace = 1
}
resource "terraform_data" "middle" {
  triggers_replace = terraform_data.base.id
  lifecycle {
    create_before_destroy = true
  }
}
resource "terraform_data" "top" {
  input = terraform_data.middle.id
}
#= apply
resource "terraform_data" "base" {
  triggers_replace = 2
}
resource "terraform_data" "middle" {
  triggers_replace = terraform_data.base.id
  lifecycle {
    create_before_destroy = true
  }
}
resource "terraform_data" "top" {
  input = terraform_data.middle.id
}
#= plan

# Every kind of scalar through create, no change, and update in place.
#= apply
resource "terraform_data" "text" {
  input = "one"
}
resource "terraform_data" "number" {
  input = 1.5
}
resource "terraform_data" "flag" {
  input = true
}
resource "terraform_data" "big" {
  input = 123456789012345678901234567890
}
resource "terraform_data" "none" {
}
resource "terraform_data" "nothing" {
  input = null
}
#= plan
#= apply
resource "terraform_data" "text" {
  input = "two"
}
resource "terraform_data" "number" {
  input = 2
}
resource "terraform_data" "flag" {
  input = "true"
}
resource "terraform_data" "big" {
  input = 0.1
}
resource "terraform_data" "none" {
  input = "some"
}
resource "terraform_data" "nothing" {
  input = null
}
#= plan

#= apply
resource "terraform_data" "more" {
  input = "x"
}
resource "terraform_data" "less" {
  count = 2
  input = count.index
}
resource "terraform_data" "each" {
  input = "x"
}
#= apply
resource "terraform_data" "more" {
  count = 2
  input = "x"
}
resource "terraform_data" "less" {
  input = 0
}
resource "terraform_data" "each" {
  for_each = toset(["x"])
  input    = "x"
}
#= plan
#= apply
resource "terraform_data" "more" {
  count = 0
}
resource "terraform_data" "less" {
  count = 1
  input = 0
}

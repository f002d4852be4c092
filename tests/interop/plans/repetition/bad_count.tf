# Counts that are none.
#= plan
resource "terraform_data" "negative" {
  count = -1
}
resource "terraform_data" "null" {
  count = null
}
resource "terraform_data" "text" {
  count = "many"
}
resource "terraform_data" "fraction" {
  count = 1.5
}
resource "terraform_data" "sensitive" {
  count = sensitive(1)
}

# Collections that give no keys.
#= plan
resource "terraform_data" "list" {
  for_each = ["a"]
}
resource "terraform_data" "null" {
  for_each = null
}
resource "terraform_data" "numbers" {
  for_each = toset([1, 2])
}
resource "terraform_data" "sensitive" {
  for_each = sensitive(toset(["a"]))
}
resource "terraform_data" "nulls" {
  for_each = toset(["a", null])
}
resource "terraform_data" "text" {
  for_each = "a"
}

# An object without key does not become one with a key.
#= apply
resource "terraform_data" "a" {
  input = 1
}
#= plan
resource "terraform_data" "a" {
  for_each = toset(["k"])
  input    = 1
}

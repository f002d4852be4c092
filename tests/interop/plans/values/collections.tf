# Nested collections, empty ones included, and changes deep inside.
#= apply
resource "terraform_data" "object" {
  input = { a = 1, b = { c = ["x", "y"], d = null }, e = [], f = {} }
}
resource "terraform_data" "list" {
  input = tolist(["a", "b"])
}
resource "terraform_data" "set" {
  input = toset(["b", "a"])
}
resource "terraform_data" "map" {
  input = tomap({ k = 1, j = 2 })
}
resource "terraform_data" "tuple" {
  input = [1, "two", false, null, [3]]
}
resource "terraform_data" "empties" {
  input = { list = tolist([]), set = toset([]), map = tomap({}), text = "" }
}
#= plan
#= apply
resource "terraform_data" "object" {
  input = { a = 1, b = { c = ["x", "z"], d = 4 }, e = [], g = {} }
}
resource "terraform_data" "list" {
  input = tolist(["a", "b", "c"])
}
resource "terraform_data" "set" {
  input = toset(["b", "c"])
}
resource "terraform_data" "map" {
  input = tomap({ k = 1 })
}
resource "terraform_data" "tuple" {
  input = [1, "two"]
}
resource "terraform_data" "empties" {
  input = {}
}

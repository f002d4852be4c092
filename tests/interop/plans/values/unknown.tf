# Unknown values whole, nested, in collections, and derived ones.
#= apply
resource "terraform_data" "a" {
  input = "x"
}
resource "terraform_data" "whole" {
  input = terraform_data.a.id
}
resource "terraform_data" "nested" {
  input = { id = terraform_data.a.id, fixed = 1, list = [terraform_data.a.id, "k", null], deep = { only = terraform_data.a.id } }
}
resource "terraform_data" "list" {
  input = tolist([terraform_data.a.id, "fixed"])
}
resource "terraform_data" "set" {
  input = toset([terraform_data.a.id, "fixed"])
}
resource "terraform_data" "map" {
  input = tomap({ a = terraform_data.a.id, b = "fixed" })
}
resource "terraform_data" "text" {
  input = "id ${terraform_data.a.id}"
}
resource "terraform_data" "truth" {
  input = terraform_data.a.id == "x"
}
resource "terraform_data" "trigger" {
  triggers_replace = [terraform_data.a.id]
}
resource "terraform_data" "object" {
  input = terraform_data.a
}
#= plan
#= plan
resource "terraform_data" "a" {
  input            = "x"
  triggers_replace = 1
}
resource "terraform_data" "whole" {
  input = terraform_data.a.id
}
resource "terraform_data" "nested" {
  input = { id = terraform_data.a.id, fixed = 1, list = [terraform_data.a.id, "k", null], deep = { only = terraform_data.a.id } }
}
resource "terraform_data" "list" {
  input = tolist([terraform_data.a.id, "fixed"])
}
resource "terraform_data" "set" {
  input = toset([terraform_data.a.id, "fixed"])
}
resource "terraform_data" "map" {
  input = tomap({ a = terraform_data.a.id, b = "fixed" })
}
resource "terraform_data" "text" {
  input = "id ${terraform_data.a.id}"
}
resource "terraform_data" "truth" {
  input = terraform_data.a.id == "x"
}
resource "terraform_data" "trigger" {
  triggers_replace = [terraform_data.a.id]
}
resource "terraform_data" "object" {
  input = terraform_data.a
}

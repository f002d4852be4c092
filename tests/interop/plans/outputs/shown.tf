# Outputs of every type, as the commands show them.
#= apply
output "object" {
  value = { a = [1, 2, { b = "x" }], "k k" = {}, e = [], n = null, s = "multi\nline", t = true }
}
output "list" {
  value = tolist(["a", "b"])
}
output "tuple" {
  value = ["a", ["b"], { c = [] }]
}
output "map" {
  value = tomap({ x = "a", "y z" = "b" })
}
output "number" {
  value = 1.5
}
output "sensitive" {
  value     = { a = 1 }
  sensitive = true
}
output "lines" {
  value = "a\nb\n"
}
output "set" {
  value = toset(["b", "a"])
}
output "empty" {
  value = [[], {}, toset([])]
}
resource "terraform_data" "x" {
  input = { a = [1, { b = "x" }], c = "m\nn" }
}
#= shown

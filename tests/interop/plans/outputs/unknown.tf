# Outputs that are not known, wholly or in part, at first and on change.
#= apply
resource "terraform_data" "a" {
  input = 1
}
output "id" {
  value = terraform_data.a.id
}
output "mixed" {
  value = { id = terraform_data.a.id, fixed = [1, terraform_data.a.id] }
}
output "object" {
  value = terraform_data.a
}
output "none" {
  value = terraform_data.a.triggers_replace
}
#= plan
#= plan
resource "terraform_data" "a" {
  input            = 2
  triggers_replace = 3
}
output "id" {
  value = terraform_data.a.id
}
output "mixed" {
  value = { id = terraform_data.a.id, fixed = [1, terraform_data.a.id] }
}
output "object" {
  value = terraform_data.a
}
output "none" {
  value = terraform_data.a.triggers_replace
}

# Values both unknown and sensitive.
#= plan
resource "terraform_data" "a" {
}
resource "terraform_data" "b" {
  input = { id = sensitive(terraform_data.a.id), open = terraform_data.a.id, known = sensitive(1) }
}
output "id" {
  value     = terraform_data.b.output.id
  sensitive = true
}
output "other" {
  value     = terraform_data.b
  sensitive = true
}

# Nothing is changed but the state and outputs.
#= apply
resource "terraform_data" "a" {
  input = 1
}
output "o" {
  value = terraform_data.a.output
}
#= plan -refresh-only
resource "terraform_data" "a" {
  input = 2
}
resource "terraform_data" "new" {
}
output "o" {
  value = "changed"
}
#= plan -refresh=false
#= apply -refresh-only
#= plan

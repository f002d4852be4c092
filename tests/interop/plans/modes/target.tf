# Only a part is planned.
#= plan -target=terraform_data.b
resource "terraform_data" "a" {
  input = 1
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
resource "terraform_data" "c" {
  input = 3
}
resource "terraform_data" "many" {
  count = 3
}
output "o" {
  value = terraform_data.c.id
}
output "p" {
  value = terraform_data.b.id
}
#= plan -target=terraform_data.many[1]
#= apply -target=terraform_data.a
#= plan
#= plan -target=terraform_data.missing

# Everything goes.
#= apply
variable "v" {
  default = "x"
}
resource "terraform_data" "a" {
  count = 2
  input = var.v
}
resource "terraform_data" "b" {
  input = terraform_data.a[0].id
}
output "o" {
  value = terraform_data.b.id
}
output "constant" {
  value = 1
}
#= plan -destroy
#= plan -destroy -target=terraform_data.b
#= plan -destroy -target=terraform_data.a[1]
#= apply -destroy
#= plan

# Order without reference.
#= apply
resource "terraform_data" "a" {
  input = 1
}
resource "terraform_data" "b" {
  depends_on = [terraform_data.a]
}
resource "terraform_data" "c" {
  count      = 2
  depends_on = [terraform_data.b, terraform_data.a]
}
output "o" {
  value      = 1
  depends_on = [terraform_data.c]
}
#= plan
resource "terraform_data" "a" {
  input = 2
}
resource "terraform_data" "b" {
  depends_on = [terraform_data.a]
}
#= plan -destroy

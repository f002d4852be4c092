# Blocks that are gone.
#= apply
resource "terraform_data" "a" {
  count = 2
}
resource "terraform_data" "b" {
  input = terraform_data.a[0].id
}
#= apply
locals {}
#= plan

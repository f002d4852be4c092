# Instances by count, grown, shrunk, and to none.
#= apply
resource "terraform_data" "a" {
  count = 2
  input = "i${count.index}"
}
resource "terraform_data" "none" {
  count = 0
}
output "all" {
  value = terraform_data.a[*].output
}
output "none" {
  value = terraform_data.none
}
#= apply
resource "terraform_data" "a" {
  count = 3
  input = "i${count.index}"
}
output "all" {
  value = terraform_data.a[*].output
}
#= plan
resource "terraform_data" "a" {
  count = 1
  input = "i${count.index}"
}
#= plan
resource "terraform_data" "a" {
  count = 0
}

# Nothing is there to be destroyed.
#= plan -destroy
resource "terraform_data" "a" {
}
output "o" {
  value = 1
}

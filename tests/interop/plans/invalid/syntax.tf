# Text that cannot be read.
#= plan
resource "terraform_data" "a" {
#= plan
output "a" {
  value = 1 +
}
#= plan
output "a" {
  value = [1, 2
}
#= plan
a = 1
#= plan
output "a" { value = 1 value = 2 }
#= plan
output a {
  value = @
}

# What no state can hold is refused.
#= plan
output "o" {
  value = 1 / 0
}
#= plan
output "o" {
  value = { a = [-1 / 0] }
}
#= plan
resource "terraform_data" "x" {
  input = 1 / 0
}

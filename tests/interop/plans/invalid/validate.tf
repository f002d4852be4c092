# The validate command on sound and unsound folders.
#= validate
resource "terraform_data" "a" {
  input = var.x
}
variable "x" {
}
#= validate
resource "terraform_data" "a" {
  input    = var.y
  nonesuch = 1
}
#= validate
variable "x" {
  type    = number
  default = "text"
}
#= validate
resource "terraform_data" "a" {
  count = "x"
}
output "o" {
  value = sensitive(1)
}

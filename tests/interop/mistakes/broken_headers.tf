# Headers of blocks whose bodies have syntax errors: labels and kinds are judged all the same.
#= validate
resource "terraform_data" {
  input = 1 +
}
#= validate
resource "terraform_data" {
#= validate
variable "a" "b" {
  default = [1,
}
#= validate
module {
  source = "./x"
  q = {
}
#= validate
foo {
  a = 1
#= validate
resource "terraform_data" "a" {
  input = 1 +
}
resource "terraform_data" "a" {
  input = 2
}
#= validate
import "x" {
  to = terraform_data.q
  id = [
}

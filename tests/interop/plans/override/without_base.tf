#= file override.tf
variable "b" {
  default = 1
}
locals {
  x = 1
}
output "o" {
  value = 1
}
resource "terraform_data" "x" {}
data "terraform_remote_state" "x" {}
module "m" {
  source = "./m"
}
provider "terraform" {
  alias = "x"
}
#= validate
output "x" {
  value = 1
}

# References that lead nowhere in a module that is called twice, and arguments missing in blocks on one
# line.
#= file mod/main.tf
resource "terraform_data" "x" {
  input = terraform_data.none.id
}
resource "terraform_data" "y" {
  input = [module.no.x, module.no2[0].x]
}
resource "terraform_data" "z" {
  input = [data.terraform_data.x.output, ephemeral.foo.bar.id]
}
data "terraform_remote_state" "gone" {
  backend = "local"
}
resource "terraform_data" "v" {
  input = terraform_remote_state.gone.id
}
resource "terraform_data" "w" {
  input = self.id
}
output "x" {
  value = terraform_data.nonono
}
#= validate
module "a" {
  source = "./mod"
}
module "b" {
  source   = "./mod"
  for_each = toset(["x"])
}
resource "terraform_data" "n" {
  input = terraform_data.missing.id
}
#= plan
#= file mod/main.tf
variable "a" {}
variable "b" {}
#= validate
module "a" { source = "./mod" }
#= validate
output "x" {}
output "y" { description = "x" }
#= validate
moved { from = terraform_data.a }
#= validate
moved { to = terraform_data.a }
#= validate
removed {}
#= validate
import { id = "x" }
#= validate
import { to = terraform_data.a }
#= file providers.tf
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
#= validate
resource "test_thing" "a" {}
resource "test_thing" "b" { optional = "s" }
data "test_data" "c" { other = "s" }
#= validate
provider "test" { nothing = 1 }

# What fails in one instance of a module holds back who mentions it in all of them.
#= file m/main.tf
terraform {
 required_providers {
 test = { source = "formwork/test" }
 }
}
variable "fails" { default = null }
resource "test_thing" "a" {
  name = "a"
  fails = var.fails
}
resource "test_thing" "b" { name = test_thing.a.computed }
resource "test_thing" "c" {
  name = "c"
  depends_on = [test_thing.a]
}
output "o" { value = test_thing.a.id }
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
module "m" {
  source = "./m"
  for_each = toset(["bad", "good"])
  fails = each.key == "bad" ? "create" : null
}

#= apply
terraform {
  required_providers {
    test      = { source = "formwork/test" }
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}

variable "secret" {
  default   = "s"
  sensitive = true
}
resource "test_thing" "a" {
  name = provider::test::greeting(var.secret)
  tags = { deep = provider::test::joined("-", "a", var.secret) }
}
output "text" {
  value     = provider::test::greeting(var.secret)
  sensitive = true
}
output "deep" {
  value     = provider::test::same({ a = var.secret })
  sensitive = true
}
output "refused" {
  value = provider::test::greeting(var.secret) == "x" ? 1 : 2
  sensitive = true
}
#= plan
terraform {
  required_providers {
    test      = { source = "formwork/test" }
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}

variable "secret" {
  default   = "s"
  sensitive = true
}
output "text" {
  value = provider::test::greeting(var.secret)
}

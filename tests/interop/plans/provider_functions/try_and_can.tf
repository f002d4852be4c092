#= plan
terraform {
  required_providers {
    test      = { source = "formwork/test" }
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}

output "refused" {
  value = can(provider::test::refuse("x"))
}
output "no_such_function" {
  value = can(provider::test::greetin("x"))
}
output "good" {
  value = can(provider::test::greeting("x"))
}
output "first" {
  value = try(provider::test::refuse("x"), provider::test::greeting("x"))
}
output "none" {
  value = try(provider::nobody::greeting("x"), 1)
}

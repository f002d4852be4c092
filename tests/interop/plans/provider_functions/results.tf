#= apply
terraform {
  required_providers {
    test      = { source = "formwork/test" }
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}

output "text" {
  value = provider::test::greeting("you")
}
output "converted" {
  value = provider::test::greeting(1.50)
}
output "object" {
  value = provider::test::object(12)
}
output "list" {
  value = provider::test::total(["1", 2])
}
output "none" {
  value = provider::test::joined("-")
}
output "spread" {
  value = provider::test::joined("-", ["a", "b"]...)
}
output "null" {
  value = provider::test::nothing()
}
output "any" {
  value = provider::test::same({ a = [1, null], b = "x" })
}
output "nested" {
  value = provider::test::greeting(provider::test::greeting(upper("x")))
}
output "kinds" {
  value = [
    provider::test::kind(null),
    provider::test::kind(tostring(null)),
    provider::test::kind({ a = 1 }),
    provider::test::kind(["a", 1]),
    provider::test::kind(toset(["a"])),
  ]
}
output "core" {
  value = core::upper("x")
}

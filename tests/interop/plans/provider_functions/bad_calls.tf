#= validate
terraform {
  required_providers {
    test      = { source = "formwork/test" }
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}
output "o0" {
  value = provider::test::greeting()
}
output "o1" {
  value = provider::test::greeting("a", "b")
}
output "o2" {
  value = provider::test::greeting(null)
}
output "o3" {
  value = provider::test::greeting(["x"])
}
output "o4" {
  value = provider::test::joined("x", "y", null)
}
output "o5" {
  value = provider::test::joined("x", "y", ["z"])
}
output "o6" {
  value = provider::test::refuse("x", "y")
}
output "o7" {
  value = provider::test::refuse()
}
output "o8" {
  value = provider::test::total("x")
}
output "o9" {
  value = provider::test::total(["a"])
}
output "o10" {
  value = provider::test::same(null)
}
output "o11" {
  value = provider::test::object(null...)
}

#= plan
terraform {
  required_providers {
    test      = { source = "formwork/test" }
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}

resource "terraform_data" "u" {
  input = "x"
}
output "text" {
  value = provider::test::greeting(terraform_data.u.id)
}
output "object" {
  value = provider::test::object(terraform_data.u.id)
}
output "attribute" {
  value = provider::test::object(terraform_data.u.id).length
}
output "part" {
  value = provider::test::same({ a = [1, terraform_data.u.id] })
}
output "dynamic" {
  value = provider::test::same(terraform_data.u.output)
}
output "kind" {
  value = provider::test::kind(terraform_data.u.id)
}
output "kind_dynamic" {
  value = provider::test::kind(terraform_data.u.output)
}
output "kind_part" {
  value = provider::test::kind([terraform_data.u.id])
}
output "one_of_several" {
  value = provider::test::joined("-", "a", terraform_data.u.id)
}
output "spread" {
  value = provider::test::joined("-", terraform_data.u.output...)
}

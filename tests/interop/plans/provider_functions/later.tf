#= apply
terraform {
  required_providers {
    test      = { source = "formwork/test" }
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}

resource "terraform_data" "u" {
  input = "x"
}
resource "terraform_data" "v" {
  input            = provider::test::greeting(terraform_data.u.output)
  triggers_replace = provider::test::object(provider::test::greeting("x"))
}
output "v" {
  value = terraform_data.v.output
}

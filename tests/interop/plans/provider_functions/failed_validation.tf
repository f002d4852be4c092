#= plan
terraform {
  required_providers {
    test      = { source = "formwork/test" }
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}

variable "who" {
  default = "me"
  validation {
    condition     = provider::test::greeting(var.who) != "Hello, me"
    error_message = provider::test::greeting("nobody")
  }
}

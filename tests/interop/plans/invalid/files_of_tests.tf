# Mistakes in files of tests, which a plan is not made of.
#= file a.tftest.hcl
run "x" {
  nope = 1
  foo {}
}
run "x" {}
run "1a" {}
run {}
variables {
  a = 1
  b {}
}
variables {
}
provider "x" {}
mock_provider "x" {}
#= validate
variable "a" {
  default = 1
}
#= file a.tftest.hcl
run "x" {
  command         = foo
  expect_failures = [1, var.a]
  plan_options {
    mode    = nope
    refresh = "x"
    target  = [1]
    x       = 1
  }
  assert {
    condition = true
  }
  module {
    version = "1"
  }
  providers = 3
}
#= validate
#= file a.tftest.hcl
override_resource {
  values = 3
}
override_data {
  target          = terraform_data.a
  override_during = nope
}
override_module {
  target  = module.x
  outputs = 1
}
#= validate

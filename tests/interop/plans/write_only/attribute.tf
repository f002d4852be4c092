#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

resource "test_thing" "a" {
  name              = "a"
  secret_wo         = "hush"
  secret_wo_version = 1
}
output "length" {
  value = test_thing.a.secret_wo_length
}
output "secret" {
  value = test_thing.a.secret_wo
}
#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

resource "test_thing" "a" {
  name              = "a"
  secret_wo         = "another, which alone is no change"
  secret_wo_version = 1
}
output "length" {
  value = test_thing.a.secret_wo_length
}
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

resource "test_thing" "a" {
  name              = "a"
  secret_wo         = "longer"
  secret_wo_version = 2
}
output "length" {
  value = test_thing.a.secret_wo_length
}

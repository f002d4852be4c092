#= plan
terraform {
  required_providers {
    test      = { source = "formwork/test" }
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}

output "some" {
  value = provider::terraform::decode_tfvars("a = 1\nb = { c = [1, 2] }\nd = 1 + 2\ne = [for x in [1] : x]\n")
}
output "none" {
  value = provider::terraform::decode_tfvars("")
}
#= plan
terraform {
  required_providers {
    test      = { source = "formwork/test" }
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}
output "o0" {
  value = provider::terraform::decode_tfvars("a = ")
}
output "o1" {
  value = provider::terraform::decode_tfvars("a = var.x")
}
output "o2" {
  value = provider::terraform::decode_tfvars("a {}")
}
output "o3" {
  value = provider::terraform::decode_tfvars("a = 1\na = 2\n")
}
output "o4" {
  value = provider::terraform::decode_tfvars(1)
}
output "o5" {
  value = provider::terraform::decode_tfvars(null)
}
output "o6" {
  value = provider::terraform::decode_tfvars("a = upper(\"x\")")
}

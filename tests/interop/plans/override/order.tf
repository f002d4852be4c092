#= file a_override.tf
locals {
  a = "a"
}
#= file override.tf
locals {
  a = "override"
}
#= file z_override.tf
locals {
  a = "z"
}
#= plan
locals {
  a = "base"
}
output "a" {
  value = local.a
}

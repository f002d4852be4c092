#= file override.tf
locals {
  a = 4
  c = local.b
}
#= file z1_override.tf
locals {
  b = 5
}
#= plan
locals {
  a = 1
  b = 2
}
locals {
  c = 3
}
output "all" {
  value = [local.a, local.b, local.c]
}

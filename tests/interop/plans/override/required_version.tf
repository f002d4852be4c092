#= file override.tf
terraform {
  required_version = ">= 1.0"
}
#= plan
terraform {
  required_version = ">= 9.0"
}
output "x" {
  value = 1
}

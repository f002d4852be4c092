#= file override.tf
terraform {
  required_version = ">= 9.0"
}
#= validate
terraform {
  required_version = ">= 1.0"
}

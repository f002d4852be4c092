#= file override.tf
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
#= validate
output "x" {
  value = 1
}

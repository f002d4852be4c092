# Values for variables that are not declared.
#= file terraform.tfvars
other = 1
another = 2
#= plan
output "a" {
  value = 1
}
#= plan -var missing=1

#= file override.tf
removed {
  from = terraform_data.y
}
#= plan
resource "terraform_data" "x" {}

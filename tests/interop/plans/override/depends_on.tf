#= file override.tf
resource "terraform_data" "x" {
  depends_on = [terraform_data.y]
}
#= validate
resource "terraform_data" "x" {
  input = 1
}
resource "terraform_data" "y" {}

#= file override.tf
resource "terraform_data" "x" {
  lifecycle {
    precondition {
      condition     = local.t
      error_message = "over"
    }
  }
}
#= validate
resource "terraform_data" "x" {
  input = 1
}

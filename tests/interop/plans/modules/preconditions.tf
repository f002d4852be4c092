#= file child/main.tf
variable "size" {}
output "size" {
  value = var.size
  precondition {
    condition     = var.size > 3
    error_message = "Too small."
  }
}
resource "terraform_data" "it" {
  input = var.size
  lifecycle {
    precondition {
      condition     = var.size < 10
      error_message = "Too large."
    }
  }
}
#= plan
module "small" {
  source = "./child"
  size   = 2
}
#= plan
module "large" {
  source = "./child"
  count  = 2
  size   = 9 + count.index
}
#= apply
module "right" {
  source = "./child"
  size   = 5
}

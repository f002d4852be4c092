#= file child/main.tf
variable "size" {
  type = number
  validation {
    condition     = var.size > 3
    error_message = "Too small: ${var.size}."
  }
  validation {
    condition     = var.size < var.limit
    error_message = "Not below the limit."
  }
}
variable "limit" {
  default = 10
}
output "size" {
  value = var.size
}
#= plan
module "good" {
  source = "./child"
  size   = 5
}
#= plan
module "small" {
  source = "./child"
  size   = 2
}
#= plan
module "large" {
  source   = "./child"
  for_each = { a = 5, b = 50 }
  size     = each.value
}
#= plan
resource "terraform_data" "later" {
  input = 50
}
module "unknown" {
  source = "./child"
  size   = terraform_data.later.output
}

#= file child/main.tf
terraform {
  required_providers {
    random = { source = "hashicorp/random", version = ">= 3.0" }
    null   = { source = "hashicorp/null" }
  }
}
variable "length" {
  type = number
}
resource "random_string" "it" {
  length  = var.length
  special = false
}
resource "null_resource" "user" {
  triggers = { text = random_string.it.result }
}
output "n" {
  value = length(random_string.it.result)
}
#= plan
module "m" {
  source   = "./child"
  for_each = { short = 3, long = 30 }
  length   = each.value
}
output "n" {
  value = { for key, one in module.m : key => one.n }
}

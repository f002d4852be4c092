#= file child/main.tf
variable "x" {
  default = 1
}
output "x" {
  value = var.x
}
#= apply
module "a" {
  source = "./child"
  _ {
    x = 2
  }
}
output "x" {
  value = module.a.x
}

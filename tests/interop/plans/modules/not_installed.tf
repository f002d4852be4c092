#= file child/main.tf
variable "x" {
  default = 1
}
#= validate
module "a" {
  source = "./nowhere"
}

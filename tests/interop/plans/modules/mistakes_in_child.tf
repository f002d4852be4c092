#= file child/main.tf
variable "x" {
  typ = string
}
resource "terraform_data" {
}
#= validate
module "m" {
  source = "./child"
}
#= file child/main.tf
variable "x" {
#= validate
module "m" {
  source = "./child"
}

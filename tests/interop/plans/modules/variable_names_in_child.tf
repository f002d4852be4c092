#= file child/main.tf
variable "inside" {
  default = 1
}
output "x" {
  value = var.insid
}
resource "terraform_data" "y" {
  input = local.no
  depends_on = [terraform_data.z]
}
#= validate
module "one" {
  source = "./child"
}

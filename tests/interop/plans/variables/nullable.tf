# A null that is allowed, and one that gives way to the default.
#= file terraform.tfvars
plain = null
firm  = null
#= apply
variable "plain" {
  default = "p"
}
variable "firm" {
  default  = "f"
  nullable = false
}
output "a" {
  value = { plain = var.plain, firm = var.firm }
}
#= file terraform.tfvars
firm  = null
#= plan
variable "firm" {
  type     = string
  nullable = false
}

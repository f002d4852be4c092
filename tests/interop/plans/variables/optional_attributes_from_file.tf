# Defaults of attributes fill what a file leaves out.
#= file terraform.tfvars
x = { a = "q", l = [{}, { n = 2 }] }
#= plan
variable "x" {
  type = object({
    a = string
    b = optional(number, 3)
    l = optional(list(object({ n = optional(number, 1) })), [])
  })
}
output "o" {
  value = var.x
}

#= file child/main.tf
variable "settings" {
  type = object({
    name  = string
    size  = optional(number, 3)
    tags  = optional(map(string), {})
    extra = optional(list(object({ on = optional(bool, true) })), [])
  })
}
variable "nullable" {
  type    = string
  default = "standard"
}
variable "strict" {
  type     = string
  default  = "standard"
  nullable = false
}
variable "any" {
  default = null
}
variable "numbers" {
  type    = set(number)
  default = [1, 2]
}
output "settings" {
  value = var.settings
}
output "all" {
  value = [var.nullable, var.strict, var.any, var.numbers]
}
#= apply
module "a" {
  source   = "./child"
  settings = { name = 5, extra = [{}, { on = false }], ignored = 1 }
}
module "b" {
  source   = "./child"
  settings = { name = "b", size = "7", tags = { a = 1 } }
  nullable = null
  strict   = null
  any      = [1, "a", null]
  numbers  = ["3", 4]
}
output "out" {
  value = [module.a, module.b]
}

# Defaults, types, conversions; nothing set.
#= apply
variable "text" {
  default = "d"
}
variable "number" {
  type    = number
  default = "12"
}
variable "list" {
  type    = list(string)
  default = [1, true, "x"]
}
variable "object" {
  type = object({
    a = string
    b = optional(number, 5)
    c = optional(list(string))
    d = optional(object({ e = optional(bool, true) }), {})
  })
  default = { a = 1, ignored = 2 }
}
variable "map" {
  type    = map(any)
  default = { x = 1, y = "two" }
}
variable "null" {
  default = null
}
variable "secret" {
  type        = string
  description = "Not to be shown."
  default     = "hush"
  sensitive   = true
}
variable "any" {
  type    = any
  default = [1, { a = "b" }]
}
variable "set" {
  type    = set(number)
  default = [3, 1, 3]
}
variable "tuple" {
  type    = tuple([string, number])
  default = [1, "2"]
}
resource "terraform_data" "a" {
  input = {
    text   = var.text
    number = var.number
    list   = var.list
    object = var.object
    map    = var.map
    null   = var.null
    secret = var.secret
    any    = var.any
    set    = var.set
    tuple  = var.tuple
  }
}
#= plan

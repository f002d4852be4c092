#= file child/main.tf
variable "number" {
  type = number
}
variable "strict" {
  type     = string
  nullable = false
}
variable "shape" {
  type    = object({ a = string })
  default = { a = "" }
}
#= validate
module "a" {
  source = "./child"
  number = "five"
  strict = "x"
}
module "b" {
  source = "./child"
  number = 5
  strict = null
}
module "c" {
  source = "./child"
  number = 5
  strict = "x"
  shape  = { b = 1 }
}
#= plan

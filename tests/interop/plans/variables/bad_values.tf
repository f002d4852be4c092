# Values that do not fit.
#= plan -var number=many -var list=x -var object={}
variable "number" {
  type = number
}
variable "list" {
  type = list(string)
}
variable "object" {
  type = object({ a = string })
}
variable "default" {
  type    = number
  default = "x"
}

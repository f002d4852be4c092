# Values that do not fit, where the declarations are right.
#= plan -var number=many -var list=["x",{}] -var object={}
variable "number" {
  type = number
}
variable "list" {
  type = list(string)
}
variable "object" {
  type = object({ a = string })
}

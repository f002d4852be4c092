# A source that is not constant.
#= validate
variable "x" {
  default = "./x"
}
module "m" {
  source = var.x
}

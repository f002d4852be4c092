#= file child/main.tf
variable "needed" {}
variable "wanted" {
  default = 1
}
#= validate
module "a" {
  source = "./child"
}
#= validate
module "b" {
  source = "./child"
  needed = 1
  wantd  = 2
}
#= plan
module "c" {
  source  = "./child"
  needed  = 1
  nothing = 2
  also    = 3
}

#= file child/main.tf
output "x" {
  value = 1
}
#= plan
module "m" {
  source = "./child"
  count  = -1
}
#= plan
module "m" {
  source = "./child"
  count  = null
}
#= plan
module "m" {
  source   = "./child"
  for_each = ["a"]
}
#= plan
module "m" {
  source   = "./child"
  for_each = null
}
#= validate
module "m" {
  source   = "./child"
  for_each = "text"
}

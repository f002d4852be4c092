#= file child/main.tf
output "x" {
  value = 1
}
#= plan
module "m" {
  source   = "./child"
  for_each = sensitive({ a = 1 })
}
#= plan
module "m" {
  source = "./child"
  count  = sensitive(2)
}

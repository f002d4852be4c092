# A source that changes from one step to the next.
#= file a/main.tf
output "v" {
  value = "a"
}
#= file b/main.tf
output "v" {
  value = "b"
}
#= apply
module "m" {
  source = "./a"
}
output "o" {
  value = module.m.v
}
#= apply
module "m" {
  source = "./b"
}
output "o" {
  value = module.m.v
}

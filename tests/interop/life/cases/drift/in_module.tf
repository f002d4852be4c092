#= file m/main.tf
resource "test_thing" "a" {
  name = "a"
}
output "chosen" {
  value = test_thing.a.chosen
}
#= apply
module "m" {
  source = "./m"
  count  = 2
}
resource "test_thing" "b" {
  name  = "b"
  value = module.m[1].chosen
}
#= world a-1 chosen=other
#= world a-2 chosen=other
#= plan
#= apply

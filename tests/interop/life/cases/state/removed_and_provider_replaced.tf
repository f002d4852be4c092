#= file m/main.tf
variable "name" {}
resource "test_thing" "in" {
  count = 2
  name  = "in${var.name}${count.index}"
}
#= apply
module "m" {
  source   = "./m"
  for_each = toset(["x", "y"])
  name     = each.key
}
resource "test_thing" "a" {
  name       = "a"
  depends_on = [module.m]
}
#= run state rm -no-color module.m["x"].test_thing.in[0]
#= plan
#= run state replace-provider -no-color -auto-approve formwork/test registry.terraform.io/formwork/test
#= run state replace-provider -no-color -auto-approve formwork/none formwork/test
#= run state replace-provider -no-color -auto-approve formwork/test formwork/other
#= plan
#~ .plan.said: a missing plugin is reported before the block that needs it
#= run state replace-provider -no-color -auto-approve formwork/other formwork/test
#= run state rm -no-color module.m
#= plan
#= run state rm -no-color module.m
#= apply -destroy

#= file inner/main.tf
variable "f" {
  default = null
}
variable "name" {}
variable "on" {
  default = null
}
resource "test_thing" "a" {
  name   = var.name
  forced = var.f
  value  = var.on
}
output "id" {
  value = test_thing.a.id
}
#= file outer/main.tf
variable "f" {
  default = null
}
module "one" {
  source = "../inner"
  name   = "one"
  f      = var.f
}
module "two" {
  source = "../inner"
  name   = "two"
  f      = var.f
  on     = module.one.id
}
output "id" {
  value = module.two.id
}
#= apply
module "o" {
  source = "./outer"
}
resource "test_thing" "end" {
  name  = "end"
  value = module.o.id
  lifecycle {
    create_before_destroy = true
  }
}
#= apply
#< create one, create two, create end, delete end-1, delete two-1, delete one-1
module "o" {
  source = "./outer"
  f      = "1"
}
resource "test_thing" "end" {
  name   = "end"
  value  = module.o.id
  forced = "1"
  lifecycle {
    create_before_destroy = true
  }
}
#= plan
#= plan
#~ .: Terraform ends in a cycle when what needed the replaced ones goes
module "o" {
  source = "./outer"
  f      = "2"
}
#= apply -destroy

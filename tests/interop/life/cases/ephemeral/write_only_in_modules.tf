#= file m/main.tf
variable "secret" {
  ephemeral = true
}
variable "at" {
  default = 1
}
resource "test_thing" "in" {
  name              = "in"
  secret_wo         = var.secret
  secret_wo_version = var.at
}
output "secret" {
  value     = var.secret
  ephemeral = true
}
#= apply
ephemeral "test_token" "t" {
  name = "t"
}
module "m" {
  source = "./m"
  secret = ephemeral.test_token.t.token
}
resource "test_thing" "out" {
  name              = "out"
  secret_wo         = module.m.secret
  secret_wo_version = 1
}
#= plan
#= apply
ephemeral "test_token" "t" {
  name = "other"
}
module "m" {
  source = "./m"
  secret = ephemeral.test_token.t.token
  at     = 2
}
resource "test_thing" "out" {
  name              = "out"
  secret_wo         = module.m.secret
  secret_wo_version = 1
}
#= plan
module "m" {
  source = "./m"
  secret = "plain"
}
output "secret" {
  value = module.m.secret
}
#= apply -destroy
module "m" {
  source = "./m"
  secret = "plain"
}

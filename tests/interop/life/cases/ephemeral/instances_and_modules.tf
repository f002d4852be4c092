#= file m/main.tf
variable "token" {
  ephemeral = true
}
ephemeral "test_token" "inner" {
  name = "inner"
}
resource "test_thing" "t" {
  name              = "t"
  secret_wo         = "${var.token}${ephemeral.test_token.inner.token}"
  secret_wo_version = 1
}
output "token" {
  value     = ephemeral.test_token.inner.token
  ephemeral = true
}
#= apply
ephemeral "test_token" "a" {
  for_each = toset(["x", "y"])
  name     = each.key
}
module "m" {
  source = "./m"
  token  = ephemeral.test_token.a["x"].token
}
resource "test_thing" "u" {
  name              = "u"
  secret_wo         = module.m.token
  secret_wo_version = 1
}
#= apply
#= apply -destroy

#= file m/main.tf
variable "n" {
}
resource "test_thing" "a" {
  count = var.n
  name = "a${count.index}"
}
#= apply
module "m" {
  source = "./m"
  n = 2
}
data "test_data" "d" {
  name = "d"
  depends_on = [module.m]
}
#= apply
#< delete a1-1, data d
module "m" {
  source = "./m"
  n = 1
}
data "test_data" "d" {
  name = "d"
  depends_on = [module.m]
}
resource "test_thing" "u" {
  name = "u"
  value = data.test_data.d.result
}
resource "test_thing" "v" {
  name = "v"
  depends_on = [module.m]
}

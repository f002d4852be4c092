#= file m/main.tf
provider "test" {
  value = "m"
}
resource "test_thing" "a" {
  name = "a"
}
#= apply
module "m" {
  source = "./m"
}
#= plan
locals {}

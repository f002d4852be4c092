#= file m/main.tf
resource "test_thing" "a" {
  name = "a"
}
#= apply
#< configure root, create a
provider "test" {
  value = "root"
}
module "m" {
  source = "./m"
}
#= apply -destroy

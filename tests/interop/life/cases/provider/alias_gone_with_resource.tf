#= apply
provider "test" {
  alias = "x"
}
resource "test_thing" "a" {
  provider = test.x
  name     = "a"
}
#= plan
locals {}
#= plan -destroy
locals {}
#= apply
provider "test" {
  alias = "x"
}

#= apply
resource "test_thing" "a" {
  name   = "a"
}
#= apply
provider "test" {
  fails = "no"
}
resource "test_thing" "a" {
  name   = "a"
}
#= plan -refresh=false
#= apply -destroy
#= apply -destroy
provider "test" {}
resource "test_thing" "a" {
  name   = "a"
}

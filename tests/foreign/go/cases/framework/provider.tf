#= apply
terraform {
  provider_meta "framework" {
    module = "root"
  }
}
provider "framework" {
  region    = "east"
  say       = "a note of the provider"
  old       = true
  endpoints = { one = { url = "u", ports = [2, 1] }, two = { url = "v" } }
}
data "framework_repeat" "a" {
  text = "hello"
  any  = [1, "x"]
  filter {
    key = "k"
  }
}
data "framework_repeat" "late" {
  text = framework_thing.a.id
}
resource "framework_thing" "a" {
  name = data.framework_repeat.a.result
}
#= plan
provider "framework" {
  refuse = ["a", "b"]
}
data "framework_repeat" "a" {
  text = "bitter"
}
#= plan
data "framework_repeat" "a" {
  text = "bitter"
}
#= apply
data "framework_repeat" "a" {
  text = "sour"
}

#= apply
resource "framework_thing" "least" {
  name = "least"
}
resource "framework_thing" "full" {
  name    = "full"
  text    = "a text"
  kind    = "special"
  zone    = framework_thing.least.zone
  small   = 5
  size    = 9007199254740993
  single  = 0.5
  ratio   = 0.1
  on      = false
  token   = "hidden"
  old     = "older"
  words   = ["x", "", "y"]
  letters = ["b", "a", "b"]
  tags    = { a = "1", id = framework_thing.least.id }
  any     = { list = [1, "two", null], flag = true }
  point   = { x = 1, y = 2.5 }
  points  = [{ x = 1, y = null }, { x = null, y = 0 }]
  large   = 123456789012345678901234567890
  labels  = { l = "m" }
}
output "made" {
  value = framework_thing.least.made
}
output "secret" {
  value     = framework_thing.least.secret
  sensitive = true
}
#= plan
#= apply
resource "framework_thing" "least" {
  name = "least"
  text = "sour"
  any  = [framework_thing.full.serial]
}
resource "framework_thing" "full" {
  name    = "full"
  any     = "only a text"
  letters = []
  points  = []
  corner  = { x = 5, y = 1 }
}
#= apply
resource "framework_thing" "least" {
  name = "least"
}
resource "framework_thing" "full" {
  name   = "full"
  labels = { other = "m" }
  any    = null
}
#= plan
resource "framework_thing" "least" {
  name = "least"
  text = "bitter"
}
resource "framework_thing" "full" {
  name  = "full"
  small = 2147483648
  any   = framework_thing.least.any
}
#= apply -destroy

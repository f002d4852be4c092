#= apply
resource "test_thing" "a" {
  count = 2
  name  = "a-${count.index}"
}
#= apply
resource "test_thing" "a" {
  name   = "a-0"
}
#= apply
resource "test_thing" "a" {
  count = 1
  name  = "a-${count.index}"
}
#= apply
resource "test_thing" "a" {
  for_each = toset(["a-0"])
  name     = each.key
}

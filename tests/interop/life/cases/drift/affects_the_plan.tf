#= apply
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "c" {
  count = 2
  name  = "c${count.index}"
}
resource "test_thing" "e" {
  for_each = { x = test_thing.a.name }
  name     = "e"
  tags     = { key = each.value }
}
locals {
  all = test_thing.c[*].chosen
}
resource "test_thing" "b" {
  name  = "b"
  value = "${test_thing.a.chosen}${test_thing.c[0].chosen}${test_thing.e["x"].tags["key"]}"
  list  = local.all
}
resource "test_thing" "d" {
  name = "d"
}
output "o" {
  value = test_thing.a.chosen
}
#= world a-1 chosen=other
#= world c0-1 chosen=other
#= world c1-1 chosen=other
#= world d-1 chosen=other
#= plan
#= plan -refresh-only
#= plan -destroy
#= gone a-1
#= apply
#= plan
resource "test_thing" "n" {
  name = "n"
}

#= apply
resource "test_thing" "a" {
  for_each = { "1" = "one", "a.b" = "dot", "x\"y" = "quote", "" = "empty", "ü" = "uml", "$${z}" = "dollar" }
  name     = each.value
}
resource "test_thing" "b" {
  count = "2"
  name  = "b${count.index}"
}
output "tuple" {
  value = [for key, one in test_thing.a : key]
}
output "first" {
  value = [test_thing.b["0"].id, test_thing.b[1].id, test_thing.a[1].id]
}
#= apply -replace 'test_thing.a["a.b"]'
#= plan -target 'test_thing.a["x\"y"]' -destroy
#= run taint -no-color test_thing.a[""]
#= plan
#= run state show -no-color test_thing.a["1"]
#= run state show -no-color test_thing.a[1]
#~ .run.said: Terraform reports this error without the word
#= apply
resource "test_thing" "a" {
  count = 2
  name  = "n${count.index}"
}
moved {
  from = test_thing.a["1"]
  to   = test_thing.a[1]
}
#= apply -destroy

#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
resource "test_thing" "user" {
  name  = "user"
  value = test_thing.a.id
}
#= plan -replace test_thing.a
moved {
  from = test_thing.a
  to   = test_thing.b["k"]
}
resource "test_thing" "b" {
  for_each = toset(["k"])
  name     = "a"
  forced   = "1"
}
resource "test_thing" "user" {
  name  = "user"
  value = test_thing.b["k"].id
}
#= plan -replace 'test_thing.b["k"]'
#= plan -target 'test_thing.b["k"]'
#= plan -target test_thing.user
#= plan -refresh-only
#= apply
moved {
  from = test_thing.a
  to   = test_thing.b["k"]
}
resource "test_thing" "b" {
  for_each = toset(["k", "l"])
  name     = each.key
  forced   = "2"
}
resource "test_thing" "user" {
  name  = "user"
  value = test_thing.b["k"].id
}
#= apply
moved {
  from = test_thing.b["k"]
  to   = test_thing.b["m"]
}
moved {
  from = test_thing.b["l"]
  to   = test_thing.c
}
resource "test_thing" "b" {
  for_each = toset(["m"])
  name     = each.key
  forced   = "2"
}
#= plan

#= apply
resource "test_named" "a" {
  for_each = toset(["x", "y"])
  name     = each.key
  note     = "note"
  tags     = { t = "1" }
}
resource "test_named" "stuck" {
  name = "stuck"
}
resource "test_thing" "user" {
  name  = "user"
  value = test_named.a["x"].name
}
#= plan
moved {
  from = test_named.stuck
  to   = test_tagged.stuck
}
resource "test_tagged" "stuck" {
}
#= plan
moved {
  from = test_named.a["x"]
  to   = test_label.x
}
resource "test_label" "x" {
  name = "x"
}
#= plan
#= apply
moved {
  from = test_named.a["x"]
  to   = test_tagged.x
}
moved {
  from = test_named.a["y"]
  to   = test_tagged.y[0]
}
resource "test_tagged" "x" {
  note = "note"
  tags = { t = "1", name = "x" }
}
resource "test_tagged" "y" {
  count = 1
  note  = "other"
  tags  = { t = "1", name = "y" }
}
resource "test_named" "stuck" {
  name = "stuck"
}
resource "test_thing" "user" {
  name  = "user"
  value = test_tagged.x.tags.name
}
#= plan
#= apply
moved {
  from = test_named.a["x"]
  to   = test_tagged.x
}
moved {
  from = test_tagged.x
  to   = test_tagged.z
}
resource "test_tagged" "z" {
  note = "note"
  tags = { t = "1", name = "x" }
}
#= run state mv -no-color test_tagged.z test_named.z
#= apply -destroy

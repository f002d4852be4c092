#= apply
resource "test_thing" "a" {
  for_each = toset(["x", "y", "z"])
  name     = each.key
}
resource "test_thing" "b" {
  name = "b"
  list = [for one in test_thing.a : one.chosen]
}
#= world x-1 chosen=other
#= gone z-1
#= plan
#= apply

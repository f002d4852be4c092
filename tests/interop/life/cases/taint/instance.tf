#= apply
resource "test_thing" "a" {
  for_each = toset(["x", "y"])
  name     = each.key
}
#= run taint test_thing.a["x"]
#= apply
#= run taint test_thing.a

#= apply
resource "test_thing" "a" {
  name   = "a"
}
#= run taint test_thing.a
#= run untaint test_thing.a
#= plan
#= run untaint test_thing.a
#= run taint test_thing.b
#= run taint -allow-missing test_thing.b

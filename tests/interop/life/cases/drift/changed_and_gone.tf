#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.id
}
#= world a-1 name=other
#= gone b-1
#= plan
#= plan -refresh-only
#= plan -refresh=false
#= apply

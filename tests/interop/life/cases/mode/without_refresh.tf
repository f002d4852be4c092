#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= world a-1 name=other
#= gone b-1
#= plan -refresh=false
#= apply -refresh=false -destroy

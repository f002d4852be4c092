#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= world b-1 name=other
#= gone a-1
#= apply
locals {}

#= apply
resource "test_thing" "a" {
  name   = "a"
}
#= world a-1 chosen=other
#= plan -refresh-only
moved {
  from = test_thing.a
  to   = test_thing.z
}
resource "test_thing" "z" {
  name   = "a"
}
#= apply -refresh-only
#= apply

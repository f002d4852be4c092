#= apply
resource "test_thing" "a" {
  name   = "a"
  chosen = "x"
}
#= world a-1 chosen=other
#= plan
resource "test_thing" "a" {
  name   = "a"
  chosen = "other"
}
#= apply

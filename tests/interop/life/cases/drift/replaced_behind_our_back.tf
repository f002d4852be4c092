#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= world a-1 forced=9
#= plan
#= apply
#< delete a-1, create a, update b-1

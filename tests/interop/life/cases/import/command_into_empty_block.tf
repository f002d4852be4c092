#= world 'id of a' name=a
#= run import test_thing.a 'id of a'
resource "test_thing" "a" {
}
resource "test_thing" "unfinished" {
}
#= run import test_thing.unfinished 'no such id'
#= plan
#= apply
resource "test_thing" "a" {
  name = "a"
}

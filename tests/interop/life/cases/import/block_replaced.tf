#= world 'id of a' forced=old
#= apply
import {
  to = test_thing.a
  id = "id of a"
}
resource "test_thing" "a" {
  name   = "a"
  forced = "new"
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.id
}
#= plan

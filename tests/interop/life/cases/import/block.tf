#= world 'id of a' name=old
#= plan
import {
  to = test_thing.a
  id = "id of a"
}
resource "test_thing" "a" {
  name = "a"
}
#= apply
#= apply
#= plan
resource "test_thing" "a" {
  name = "b"
}

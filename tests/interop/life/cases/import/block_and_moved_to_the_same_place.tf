#= apply
resource "test_thing" "a" {
  name = "a"
}
#= world 'id of b'
#= plan
#= apply
import {
  to = test_thing.b
  id = "id of b"
}
moved {
  from = test_thing.a
  to   = test_thing.b
}
resource "test_thing" "b" {
  name = "b"
}
#= plan
#= apply -destroy

#= world 'id of a'
#= plan
resource "test_thing" "n" {
  name = "n"
}
import {
  to = test_thing.a
  id = "id of ${test_thing.n.id}"
}
resource "test_thing" "a" {
  name = "a"
}

#= plan
import {
  to = test_thing.a
  id = "id of a"
}
resource "test_thing" "a" {
  name = "a"
}
#= world 'id of a'
#= plan
#= plan

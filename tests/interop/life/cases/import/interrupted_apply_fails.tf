#= world 'id of a' name=old
#= fail update id of a
#= apply
import {
  to = test_thing.a
  id = "id of a"
}
resource "test_thing" "a" {
  name = "a"
}
#= fail none
#= plan
#= apply

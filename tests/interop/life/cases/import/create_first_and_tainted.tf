#= world 'id of a' forced=old
#= apply
import {
  to = test_thing.a
  id = "id of a"
}
resource "test_thing" "a" {
  name   = "a"
  forced = "new"
  lifecycle {
    create_before_destroy = true
  }
}
#= run taint test_thing.a
#= apply

#= world 'id of a'
#= plan
import {
  to = test_thing.a
  id = "id of ${local.name}"
}
locals {
  name = "a"
}
resource "test_thing" "a" {
  name = "a"
}
#= apply
#= plan

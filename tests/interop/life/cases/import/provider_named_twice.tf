#= world 'id of a' name=a
#= plan
provider "test" {
  alias = "x"
  value = "x"
}
import {
  to       = test_thing.a
  id       = "id of a"
  provider = test.x
}
resource "test_thing" "a" {
  provider = test.x
  name     = "a"
}
#= apply

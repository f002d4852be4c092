#= world 'id of a'
#= world 'id of b'
#= plan -target=test_thing.b
import {
  to = test_thing.a
  id = "id of a"
}
import {
  to = test_thing.b
  id = "id of b"
}
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "b" {
  name = "b"
}
#= plan -destroy
#= plan -refresh-only
#= apply -target=test_thing.b
#= apply
#= apply -destroy

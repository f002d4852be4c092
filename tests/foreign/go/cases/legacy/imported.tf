#= world thing-1 'name=thing' 'text=found' 'rule=[{"port":1,"protocol":"udp","hosts":["a"]}]'
#= world other-2 'name=other' 'part=[{"size":4}]'
#= run import -no-color legacy_block.a thing-1
resource "legacy_block" "a" {
  name = "thing"
}
#= plan
#= run import -no-color legacy_pair.a other-2
resource "legacy_block" "a" {
  name = "thing"
}
resource "legacy_pair" "a" {
  name = "other"
}
#= run import -no-color legacy_pair.a none/1
#= run import -no-color legacy_pair.a other/2
#= plan
#= apply
resource "legacy_block" "a" {
  name = "thing"
  text = "found"
}
resource "legacy_pair" "a" {
  name = "other"
  part {
    size = 5
  }
}
import {
  to = legacy_flaky.a
  id = "thing-1"
}
resource "legacy_flaky" "a" {
  name = "thing"
  text = "changed"
}

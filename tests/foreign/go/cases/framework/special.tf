#= env TEST_VERSION=0
#= apply
resource "framework_versioned" "a" {
  name = "a"
  size = "5"
}
resource "framework_thing" "b" {
  name = "b"
}
resource "framework_identified" "c" {
  name = "c"
}
#= env TEST_VERSION=1
#= plan
#= apply
resource "framework_versioned" "a" {
  name = "a"
  size = 5
}
moved {
  from = framework_thing.b
  to   = framework_moved.b
}
resource "framework_moved" "b" {
  name = "b"
}
resource "framework_identified" "c" {
  name = "c"
  text = "changed"
}
#= plan
moved {
  from = framework_versioned.a
  to   = framework_thing.a
}
resource "framework_thing" "a" {
  name = "a"
}
#= world other-1 'name=other' 'text=found'
#= run import -no-color framework_identified.d other-1
resource "framework_identified" "d" {
  name = "other"
}
#= run import -no-color framework_identified.e none-1
resource "framework_identified" "e" {
  name = "other"
}
#= plan
import {
  to = framework_thing.d
  id = "other-1"
}
resource "framework_thing" "d" {
  name = "other"
  text = "changed"
}

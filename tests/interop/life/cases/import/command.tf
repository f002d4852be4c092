#= plan
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "c" {
  count = 2
  name  = "c"
}
resource "test_thing" "e" {
  for_each = { k = 1 }
  name     = "e"
}
#= run import test_thing.a none
#= run import test_thing.a 'id of a'
#= world 'id of a' name=b
#= run import test_thing.b 'id of a'
#= run import data.test_data.d 'id of a'
#= run import nonsense 'id of a'
#= run import test_thing.a 'id of a'
#= run import test_thing.a 'id of a'
#~ .run.said: each program says its own name
#= world 'id of c'
#= run import test_thing.c[1] 'id of c'
#= world 'id of e'
#= run import test_thing.e["k"] 'id of e'
#= apply
#= run state rm test_thing.a
#= plan

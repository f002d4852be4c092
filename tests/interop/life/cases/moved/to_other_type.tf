#= apply
resource "test_thing" "a" {
  name = "a"
}
#= plan
#~ .plan.said[0][1]: the provider says that it cannot move objects, so it is not asked to
moved {
  from = test_thing.a
  to   = test_nested.a
}
resource "test_nested" "a" {
  name = "a"
}

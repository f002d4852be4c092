#= fail create a-1
#= apply
resource "test_thing" "a" {
  count = 3
  name  = "a-${count.index}"
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a[0].id
}
#= fail
#= apply

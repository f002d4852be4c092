#= fail create a-1
#= apply
resource "test_thing" "a" {
  count = 2
  name  = "a-${count.index}"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a[0].id
}
resource "test_thing" "c" {
  name   = "c"
  value  = test_thing.a[1].id
}
resource "test_thing" "d" {
  name   = "d"
  value  = test_thing.a[*].id
}
output "first" {
  value = test_thing.a[0].id
}
#= fail
#= apply

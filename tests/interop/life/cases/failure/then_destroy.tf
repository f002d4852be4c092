#= fail create b late
#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
resource "test_thing" "c" {
  name   = "c"
  value  = test_thing.b.id
}
#= fail
#= apply -destroy
#< delete b-1, delete a-1

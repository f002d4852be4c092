#= apply -parallelism=1
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
resource "test_thing" "c" {
  name   = "c"
}
#= apply -destroy -parallelism=1

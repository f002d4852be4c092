#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= apply
#< create z, update b-1
resource "test_thing" "z" {
  name   = "z"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.z.id
}

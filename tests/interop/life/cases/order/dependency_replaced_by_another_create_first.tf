#= apply
resource "test_thing" "a" {
  name   = "a"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= apply
#< create z, update b-1, delete a-1
resource "test_thing" "z" {
  name   = "z"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.z.id
}

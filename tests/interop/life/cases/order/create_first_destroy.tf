#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "c" {
  name   = "c"
  value  = test_thing.b.id
}
#= apply -destroy
#< delete c-1, delete b-1, delete a-1

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
#= apply -replace=test_thing.a
#< create a, update b-1, delete a-1

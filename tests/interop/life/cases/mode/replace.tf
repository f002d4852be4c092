#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= apply -replace=test_thing.a
#< delete a-1, create a, update b-1
#= plan -replace=test_thing.nothing
#= plan -replace=test_thing.a[0]
#= apply -replace=test_thing.b -replace=test_thing.a
#< delete b-1, delete a-2, create a, create b

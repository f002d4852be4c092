#= apply
#< create a-0, create b-0
#< create a-2, create b-1
resource "test_thing" "a" {
  count = 3
  name  = "a-${count.index}"
}
resource "test_thing" "b" {
  count = 3
  name  = "b-${count.index}"
  value = test_thing.a[count.index].id
}
#= apply
#< delete b-1-1, delete a-1-1
#< delete b-2-1, delete a-2-1
resource "test_thing" "a" {
  count = 1
  name  = "a-${count.index}"
}
resource "test_thing" "b" {
  count = 1
  name  = "b-${count.index}"
  value = test_thing.a[count.index].id
}
#= apply -destroy
#< delete b-0-1, delete a-0-1

#= apply -target=test_thing.b[0]
resource "test_thing" "a" {
  count = 2
  name  = "a-${count.index}"
}
resource "test_thing" "b" {
  count = 2
  name  = "b-${count.index}"
  value = test_thing.a[count.index].id
}
output "all" {
  value = test_thing.b[*].id
}
#= apply
#= apply -destroy -target=test_thing.a[1]
#= apply

#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
}
output "a" {
  value = test_thing.a.id
}
output "b" {
  value = test_thing.b.id
}
#= apply -target=test_thing.a -replace=test_thing.a -replace=test_thing.b
#= apply -destroy -target=test_thing.b
#= plan

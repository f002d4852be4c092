#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
output "id" {
  value = test_thing.b.id
}
#= plan -destroy
#= apply -destroy
#= apply -destroy
#= apply

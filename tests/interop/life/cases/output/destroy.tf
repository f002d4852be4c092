#= apply
resource "test_thing" "a" {
  name   = "a"
}
output "o" {
  value = test_thing.a.id
}
#= fail delete a-1
#= apply -destroy
#= fail
#= apply -destroy

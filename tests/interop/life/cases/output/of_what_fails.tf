#= fail create a
#= apply
resource "test_thing" "a" {
  name   = "a"
}
output "o" {
  value = test_thing.a.id
}
output "p" {
  value = "known"
}
#= fail
#= apply
#= fail update a-1
#= apply
resource "test_thing" "a" {
  name   = "a"
  list   = ["x"]
}
output "o" {
  value = test_thing.a.list
}
output "p" {
  value = "other"
}

#= apply
resource "test_thing" "a" {
  name = "a"
}
output "o" {
  value = "old"
}
#= run refresh
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "b" {
  name = "b"
}
output "o" {
  value = test_thing.b.id
}
output "list" {
  value = toset([test_thing.b.id])
}
#= apply -refresh-only
#= plan -refresh-only
#= run refresh
#= apply

#= apply
resource "test_thing" "a" {
  name   = "a"
}
output "o" {
  value = test_thing.a.id
}
output "p" {
  value = 1
}
#= apply
resource "test_thing" "a" {
  name   = "a"
}
output "o" {
  value     = test_thing.a.id
  sensitive = true
}
output "q" {
  value = 1
}
#= apply
resource "test_thing" "a" {
  name   = "a"
}
output "q" {
  value = null
}

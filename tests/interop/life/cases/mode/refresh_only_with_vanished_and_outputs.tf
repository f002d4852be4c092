#= apply
resource "test_thing" "a" {
  count = 2
  name  = "a${count.index}"
}
resource "test_thing" "b" {
  name  = "b"
  value = one(test_thing.a[0:*].id)
}
output "ids" {
  value = test_thing.a[*].id
}
#= apply
resource "test_thing" "a" {
  count = 2
  name  = "a${count.index}"
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a[0].id
}
output "ids" {
  value = test_thing.a[*].id
}
output "chosen" {
  value = test_thing.b.chosen
}
#= gone a0-1
#= world b-1 chosen=other
#= plan -refresh-only
#= plan -refresh-only -target test_thing.b
#= apply -refresh-only
#= plan -refresh-only
#= apply
#= gone a1-1
#= gone b-1
#= apply -refresh-only
resource "test_thing" "a" {
  count = 2
  name  = "a${count.index}"
}
output "ids" {
  value = test_thing.a[*].id
}
output "new" {
  value = "new"
}
#= plan
#= apply

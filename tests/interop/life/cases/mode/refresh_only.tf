#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
output "name" {
  value = test_thing.a.chosen
}
#= world a-1 chosen=other
#= gone b-1
#= plan -refresh-only
#= apply -refresh-only
#= apply

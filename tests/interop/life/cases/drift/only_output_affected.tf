#= apply
resource "test_thing" "a" {
  name   = "a"
}
output "o" {
  value = test_thing.a.chosen
}
#= world a-1 chosen=other
#= plan
#= apply
#= plan

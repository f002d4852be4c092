#= apply
resource "test_thing" "a" {
  name = "a"
}
output "o" {
  value = test_thing.a.id
  precondition {
    condition     = test_thing.a.chosen == "other"
    error_message = "Not this one."
  }
}
#= world a-1 chosen=other
#= apply

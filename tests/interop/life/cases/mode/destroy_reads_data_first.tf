#= apply
data "test_data" "d" {
  name = "d"
}
resource "test_thing" "a" {
  name = data.test_data.d.result
}
data "test_data" "e" {
  name = test_thing.a.id
}
output "o" {
  value = data.test_data.e.result
}
#= plan -destroy
#= plan -destroy -refresh=false
#= plan -refresh-only
#= plan -destroy
data "test_data" "d" {
  name  = "d"
  fails = "now"
}
resource "test_thing" "a" {
  name = data.test_data.d.result
}
#= plan -destroy
data "test_data" "d" {
  name = "d"
}
resource "test_thing" "a" {
  name  = data.test_data.d.result
  fails = "plan"
}
#= apply -destroy
data "test_data" "d" {
  name = "d"
}
resource "test_thing" "a" {
  name = data.test_data.d.result
  lifecycle {
    postcondition {
      condition     = self.name == "other"
      error_message = "Only a warning before everything goes."
    }
  }
}

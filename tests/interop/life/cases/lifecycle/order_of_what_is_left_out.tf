#= apply -target=test_thing.a -var=value=1
variable "value" {}
resource "test_thing" "before" {
  name = "before"
}
resource "test_thing" "a" {
  name  = "a"
  value = var.value
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.id
  lifecycle {
    create_before_destroy = true
  }
}
#= apply -target=test_thing.a -var=value=2
#= apply -target=test_thing.a -var=value=2 -refresh-only
#= apply -var=value=2
#= apply -target=test_thing.a -var=value=2 -replace=test_thing.a
#= apply -var=value=2 -refresh-only
variable "value" {}
resource "test_thing" "before" {
  name = "before"
}
resource "test_thing" "a" {
  name       = "a"
  value      = var.value
  depends_on = [test_thing.before]
}
resource "test_thing" "b" {
  name  = "b"
  value = "2"
}
#= apply -var=value=2

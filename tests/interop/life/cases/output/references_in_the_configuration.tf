#= apply
resource "test_thing" "a" {
  name = "a"
}
data "test_data" "d" {
  name = resource.test_thing.a.name
}
resource "test_thing" "b" {
  name       = resource.test_thing.a.name
  list       = [resource.test_thing.c[0].id, test_thing.a.computed]
  value      = { z = resource.test_thing.c["0"], w = resource.test_thing.c[*].id, a = resource.test_thing.a }
  depends_on = [resource.test_thing.a, data.test_data.d]
}
resource "test_thing" "c" {
  count = 1
  name  = "c${count.index}"
  lifecycle {
    replace_triggered_by = [resource.test_thing.a.name]
  }
}
output "o" {
  value = resource.test_thing.c[0].name
}

#= apply
resource "test_thing" "a" {
  name = "a"
}
data "test_data" "d" {
  name = test_thing.a.id
}
output "d" {
  value = data.test_data.d.result
}
#= gone a-1
#= plan -refresh-only
#= plan
#= apply

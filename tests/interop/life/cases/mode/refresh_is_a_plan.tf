#= apply
resource "test_thing" "a" {
  name = "a"
}
output "o" {
  value = test_thing.a.computed
}
#= world a-1 computed=other
#= run refresh
data "test_data" "d" {
  name = "d"
}
resource "test_thing" "a" {
  name = "a"
}
output "o" {
  value = [data.test_data.d.result, test_thing.a.computed]
}
#= plan -refresh-only
#= gone a-1
#= run refresh
#= plan -refresh-only
#= run refresh
data "test_data" "d" {
  name = "e"
}

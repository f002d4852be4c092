resource "test_thing" "drifts" {
  name = "drifts"
}
#= apply
#= gone drifts-1
#= plan -refresh-only
resource "test_thing" "new" {
  name = "new"
}
data "test_data" "late" {
  name = test_thing.new.id
}
output "late" {
  value = data.test_data.late.result
}
#= plan -refresh-only
data "test_data" "cond" {
  name = "x"
  depends_on = [test_thing.new]
}
resource "test_thing" "new" {
  name = "new"
}
output "late" {
  value = data.test_data.cond.result
}
#= plan -destroy
#= plan -destroy -refresh=false
#= apply

#= apply -target test_thing.a
resource "test_thing" "a" {
  name = "a"
}
data "test_data" "d" {
  count = 2
  name  = "${test_thing.a.id}-${count.index}"
}
resource "test_thing" "user" {
  count = 2
  name  = data.test_data.d[count.index].result
}
output "results" {
  value = data.test_data.d[*].result
}
#= plan
#= plan -target 'data.test_data.d[1]'
#= apply -target 'test_thing.user[1]'
#= apply
#= plan -replace test_thing.a
#= apply -replace test_thing.a -target data.test_data.d
#= plan -destroy -target test_thing.a
#= apply -destroy

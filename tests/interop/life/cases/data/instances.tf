#= apply
#< create a, data d-1
resource "test_thing" "a" {
  name = "a"
}
data "test_data" "d" {
  count = 2
  name  = "d-${count.index}"
  value = count.index == 1 ? test_thing.a.id : "known"
}
output "all" {
  value = data.test_data.d[*].echo
}
#= plan -refresh-only
#= apply -target=data.test_data.d

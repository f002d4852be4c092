#= apply
resource "test_thing" "a" {
  count = 2
  name = "a${count.index}"
}
data "test_data" "d" {
  name = "d"
  depends_on = [test_thing.a]
}
#= apply
#< delete a1-1, data d
resource "test_thing" "a" {
  count = 1
  name = "a${count.index}"
}
data "test_data" "d" {
  name = "d"
  depends_on = [test_thing.a]
}
#= apply
resource "test_thing" "a" {
  count = 0
  name = "a${count.index}"
}
data "test_data" "d" {
  name = "d"
  depends_on = [test_thing.a]
}
output "o" {
  value = data.test_data.d.result
}

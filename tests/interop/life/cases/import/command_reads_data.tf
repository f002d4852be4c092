data "test_data" "d" {
  name = "d"
}
resource "test_thing" "a" {
  name = "a"
}
data "test_data" "e" {
  name = test_thing.a.id
}
resource "test_thing" "b" {
  name = "b"
}
output "o" {
  value = [data.test_data.d.result, test_thing.a.computed]
}
output "p" {
  value = data.test_data.e.result
}
output "q" {
  value = test_thing.b.name
}
output "t" {
  value = data.test_data.d.result
}
#= world 'id of a' old=z
#= world 'id of b' old=z
#= run import test_thing.a 'id of a'
#= plan
#= run import test_thing.b 'id of b'
#= plan -refresh-only

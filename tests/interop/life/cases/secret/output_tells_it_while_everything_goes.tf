#= apply
resource "test_thing" "a" {
  name   = "a"
  secret = "s"
}
data "test_data" "d" {
  name   = "d"
  secret = "s"
}
#= plan
output "o" {
  value = [test_thing.a.secret, data.test_data.d.secret]
}
resource "test_thing" "a" {
  name   = "a"
  secret = "s"
}
data "test_data" "d" {
  name   = "d"
  secret = "s"
}
#= plan -destroy
#= plan -destroy -refresh=false
#= apply -destroy -refresh=false

#= apply
data "test_data" "d" {
  name   = "d"
  secret = "s"
}
resource "test_thing" "a" {
  name  = "a"
  value = data.test_data.d.result
}
output "d" {
  value     = data.test_data.d
  sensitive = true
}
#= plan -destroy
#= apply -destroy

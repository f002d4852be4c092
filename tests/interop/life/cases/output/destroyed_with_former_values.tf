#= apply
resource "test_thing" "a" {
  name   = "a"
  secret = "s"
}
output "text" {
  value = test_thing.a.id
}
output "secret" {
  value     = { s = test_thing.a.secret, l = [1, null] }
  sensitive = true
}
output "null" {
  value = null
}
output "constant" {
  value = { x = "y" }
}
#= plan -destroy
#= plan -destroy -target test_thing.a
#= save -destroy
#= use
#= plan -destroy

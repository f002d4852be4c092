# A sensitive value has to be declared so.
#= plan
output "a" {
  value = sensitive(1)
}
#= plan
output "a" {
  value     = { x = sensitive(1) }
  sensitive = true
}

# Outputs come, change, and go.
#= apply
output "same" {
  value = 1
}
output "changed" {
  value = "a"
}
output "gone" {
  value = [1, 2]
}
output "kind" {
  value = "1"
}
output "null" {
  value = null
}
output "hidden" {
  value     = "h"
  sensitive = true
}
output "object" {
  value = { a = 1, b = { c = 2 } }
}
#= plan
#= plan
output "same" {
  value = 1
}
output "changed" {
  value = "b"
}
output "new" {
  value = { x = 1 }
}
output "kind" {
  value = 1
}
output "null" {
  value = "not"
}
output "hidden" {
  value     = "h2"
  sensitive = true
}
output "object" {
  value = { a = 1, b = { c = 3 } }
}
#= apply
output "same" {
  value     = 1
  sensitive = true
}
output "hidden" {
  value = "h"
}
output "changed" {
  value = null
}
#= plan

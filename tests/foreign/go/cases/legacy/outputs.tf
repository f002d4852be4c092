#= apply
resource "legacy_basic" "a" {
  name = "a"
}
output "kept" {
  value = "old"
}
output "parts" {
  value = 5
}
#= run refresh
resource "legacy_basic" "a" {
  name = "a"
}
resource "legacy_basic" "b" {
  name = "b"
}
output "kept" {
  value = legacy_basic.b.id
}
output "parts" {
  value = { x = legacy_basic.b.id, y = 1, z = null }
}
output "list" {
  value = [legacy_basic.b.id, "q"]
}
output "new" {
  value     = legacy_basic.b.id
  sensitive = true
}
output "block" {
  value = legacy_basic.b
  sensitive = true
}
#= apply -refresh-only
#= save -refresh-only
#= use
#= run refresh
#= plan
#= apply
#= plan

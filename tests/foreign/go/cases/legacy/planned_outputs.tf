# An output that is known when it is planned is stored as it was planned, although the provider returns
# another value of an unset argument when it applies.
#= apply
resource "legacy_basic" "a" {
  name = "a"
}
output "absent" {
  value = legacy_basic.a.text
}
output "parts" {
  value = { name = legacy_basic.a.name, text = legacy_basic.a.text, off = legacy_basic.a.off }
}
output "unknown" {
  value = [legacy_basic.a.id, legacy_basic.a.text]
}
#= plan
#= apply
#= plan

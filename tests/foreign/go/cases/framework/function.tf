#= apply
output "all" {
  value = [
    provider::framework::nothing(),
    provider::framework::joined("-"),
    provider::framework::joined("-", "a", "b"),
    provider::framework::joined("-", ["a", "b", "c"]...),
    provider::framework::described(null),
    provider::framework::described([1, "a"]),
    provider::framework::joined("-", framework_thing.a.id),
    provider::framework::checked(1, null),
    provider::framework::swapped({ left = "l", right = null }),
  ]
}
resource "framework_thing" "a" {
  name = provider::framework::joined("-", "a", provider::framework::nothing())
}
#= plan
output "bad" {
  value = provider::framework::joined("-", "a", "bad")
}
#= plan
output "bad" {
  value = provider::framework::checked(-1, {})
}
#= plan
output "bad" {
  value = provider::framework::checked(0, {})
}
#= plan
output "bad" {
  value = provider::framework::checked(null, {})
}
#= plan
output "bad" {
  value = provider::framework::checked("x", { a = [] })
}
#= plan
output "bad" {
  value = provider::framework::checked(1)
}
#= plan
output "bad" {
  value = provider::framework::absent(1)
}

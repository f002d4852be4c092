# Types of outputs as they are stored.
#= apply
output "list" {
  value = tolist([1, 2])
}
output "set" {
  value = toset(["b", "a"])
}
output "map" {
  value = tomap({ a = true })
}
output "tuple" {
  value = [1, "a", [], {}]
}
output "null_text" {
  value = tostring(null)
}
output "deep" {
  value = { a = tolist([{ b = null }]), c = tomap({}) }
}
output "number" {
  value = 1.25
}
output "flag" {
  value = false
}
#= plan

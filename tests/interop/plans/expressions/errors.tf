# Mistakes in expressions.
#= plan
output "a" {
  value = 1 + "x"
}
output "b" {
  value = [1][5]
}
output "c" {
  value = { a = 1 }.b
}
output "d" {
  value = local.l[0]
}
output "e" {
  value = missing("x")
}
output "f" {
  value = upper(1, 2)
}
output "g" {
  value = tonumber("x")
}
locals {
  l = "text"
}
#= plan
output "a" {
  value = "x" && true
}
output "b" {
  value = "${[1]}"
}
output "c" {
  value = [for x in 5 : x]
}
output "d" {
  value = { for x in ["a", "a"] : x => 1 }
}
output "e" {
  value = null.a
}
output "f" {
  value = true ? [1] : { a = 1 }
}

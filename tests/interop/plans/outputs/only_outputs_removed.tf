# Nothing is left.
#= apply
output "a" {
  value = 1
}
#= apply
locals {}
#= plan

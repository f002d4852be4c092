#= file override.tf
output "a" {
  value = 2
}
output "b" {
  value      = 3
  depends_on = []
}
output "b" {
  value = 4
}
#= plan
output "a" {
  value       = 1
  description = "x"
  sensitive   = true
}
output "b" {
  value = 1
  precondition {
    condition     = local.t
    error_message = "base"
  }
}
locals {
  t = true
}

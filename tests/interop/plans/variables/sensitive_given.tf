# A sensitive value that is given.
#= apply -var x=secret
variable "x" {
  sensitive = true
}
output "o" {
  value     = var.x
  sensitive = true
}

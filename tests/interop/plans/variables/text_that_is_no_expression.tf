# Text that is not the notation of a value.
#= plan -var x=a
variable "x" {
  type = list(string)
}
output "o" {
  value = var.x
}
#= plan -var x=

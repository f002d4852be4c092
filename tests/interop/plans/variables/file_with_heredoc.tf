# A text of several lines in a file of values.
#= file terraform.tfvars
x = <<-END
    one
      two
  END
#= plan
variable "x" {
  default = "default"
}
output "o" {
  value = var.x
}

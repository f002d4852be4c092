# Conditions that are no condition.
#= plan -var a=1
variable "a" {
  type = number
  validation {
    condition     = true
    error_message = "never"
  }
}
#= plan -var a=1
variable "a" {
  validation {
    condition     = var.a.b == 1
    error_message = "Never."
  }
}
#= plan -var a=1
variable "a" {
  validation {
    condition     = "maybe${var.a}"
    error_message = "Never."
  }
}

#= apply -var given=1
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

variable "given" {
  type      = number
  ephemeral = true
}
variable "default" {
  default   = "d"
  ephemeral = true
  validation {
    condition     = var.default == "d"
    error_message = "Must be d."
  }
}
variable "secret" {
  default   = { a = "x" }
  ephemeral = true
  sensitive = true
}
ephemeral "test_token" "a" {
  name  = var.default
  value = var.secret
}
resource "test_thing" "a" {
  name      = "a"
  secret_wo = "${var.given}${var.default}${ephemeral.test_token.a.echo.a}"
}
output "o" {
  value = ephemeralasnull(var.given)
}
#= plan -var given=2

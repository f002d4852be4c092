# The values of the names in a condition or another expression are reported with the mistake.
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  lifecycle {
    precondition {
      condition     = var.v == "x" && var.v != local.text && terraform_data.r.id == "x" && local.split == null
      error_message = "no"
    }
  }
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  lifecycle {
    precondition {
      condition     = local.numbers[0] + local.numbers[1] + local.numbers[2] + local.numbers[3] == local.numbers
      error_message = "no"
    }
  }
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  lifecycle {
    precondition {
      condition     = local.empty == null && local.strings[0] == "z" && local.strings[*] == null && var.o == null && var.o.a == "y"
      error_message = "no"
    }
  }
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  lifecycle {
    precondition {
      condition     = local.known.a.b == "x" && local.known == null && local.known["secret"] == null && var.e == "x"
      error_message = "no"
    }
  }
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  lifecycle {
    precondition {
      condition     = alltrue([for i, x in local.strings : x == var.v && i > 7]) && path.module == "x" && try(var.o.zzz, true)
      error_message = "no"
    }
  }
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  lifecycle {
    precondition {
      condition     = local.nothing
      error_message = "no"
    }
  }
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  lifecycle {
    precondition {
      condition     = var.v == "x"
      error_message = "${var.v} ${var.s[0]}"
    }
  }
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  lifecycle {
    precondition {
      condition     = var.v == "x"
      error_message = local.nothing
    }
  }
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  count = "x${local.strings[0]}"
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  for_each = toset(local.split)
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  for_each = toset(concat(local.strings, var.s))
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  for_each = toset([var.e, local.strings[0]])
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  for_each = local.nothing
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  for_each = toset([local.strings[0], local.nothing])
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  input = local.strings[7]
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  input = local.strings[0] + 1
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  input = "${local.strings}"
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
resource "terraform_data" "x" {
  input = upper(local.known)
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
variable "z" {
  default = "q"
  validation {
    condition     = var.z == var.v
    error_message = "No."
  }
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
check "c" {
  assert {
    condition     = terraform_data.r.output == "3" && local.split == null
    error_message = "No."
  }
  assert {
    condition     = local.text == terraform_data.r.input
    error_message = "No."
  }
}
#= plan
variable "v" { default = "bad" }
variable "n" { default = null }
variable "s" {
  sensitive = true
  default   = ["hidden"]
}
variable "e" {
  ephemeral = true
  default   = "gone"
}
variable "o" {
  type    = object({ a = string, b = optional(list(number)) })
  default = { a = "x" }
}
resource "terraform_data" "r" { input = "1" }
locals {
  text    = "a\u00a0b\u202e\u001b[31m\nc"
  numbers = [12345678901, 1 / 3, 1000000000, 0.00001]
  strings = tolist(["a", "b"])
  empty   = tomap({})
  split   = split(",", terraform_data.r.id)
  known   = { a = { b = "deep" }, secret = var.s }
  nothing = null
}
output "o" {
  value = 1
  precondition {
    condition     = local.strings == null || length(local.strings) == 7
    error_message = "No."
  }
}

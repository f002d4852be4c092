#= apply
variable "key" {
  default   = "k"
  ephemeral = true
}
resource "legacy_secret" "a" {
  name                = "a"
  password_wo         = "very secret"
  password_wo_version = 1
  login {
    user   = "me"
    key_wo = var.key
  }
  login {
    user = "you"
  }
}
resource "legacy_secret" "b" {
  name     = "b"
  password = "plain"
}
#= plan
#= apply
resource "legacy_secret" "a" {
  name                = "a"
  password_wo         = legacy_secret.b.id
  password_wo_version = 2
  login {
    user   = "me"
    key_wo = legacy_secret.b.id
  }
}
resource "legacy_secret" "b" {
  name     = "b"
  password = "changed"
}
#= apply
resource "legacy_identified" "a" {
  name = "a"
  text = "t"
}
resource "legacy_secret" "b" {
  name     = "b"
  password = sensitive("x")
}
#= plan
#= apply
resource "legacy_identified" "a" {
  name = "a"
  text = "changed"
}

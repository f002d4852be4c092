#= apply
ephemeral "framework_token" "a" {
  name  = "a"
  scope = ["y", "x"]
}
resource "framework_secret" "a" {
  name     = "a"
  password = ephemeral.framework_token.a.value
  keys     = { k = "v" }
  version  = 1
}
#= plan
#= apply
ephemeral "framework_token" "a" {
  name = framework_secret.b.id
}
resource "framework_secret" "a" {
  name     = "a"
  password = ephemeral.framework_token.a.value
  version  = 2
}
resource "framework_secret" "b" {
  name = "b"
}
#= fail open a
#= plan
ephemeral "framework_token" "a" {
  name = "a"
}
#= plan
resource "framework_secret" "a" {
  name     = "refused"
  password = "bitter"
}

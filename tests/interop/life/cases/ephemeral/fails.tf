#= apply
ephemeral "test_token" "a" {
  name = "a"
}
ephemeral "test_token" "b" {
  name  = "b"
  fails = "open"
}
resource "test_thing" "t" {
  name              = "t"
  secret_wo         = ephemeral.test_token.b.token
  secret_wo_version = 1
}
#= apply
ephemeral "test_token" "a" {
  name  = "a"
  fails = "close"
}
resource "test_thing" "t" {
  name              = "t"
  secret_wo         = ephemeral.test_token.a.token
  secret_wo_version = 1
}
#= apply
ephemeral "test_token" "a" {
  name = "a"
}
resource "test_thing" "t" {
  name              = "t"
  secret_wo         = ephemeral.test_token.a.token
  secret_wo_version = 1
  fails             = "update"
}

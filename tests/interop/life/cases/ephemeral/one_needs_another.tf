#= apply
ephemeral "test_token" "a" {
  name = "a"
}
ephemeral "test_token" "b" {
  name  = "b"
  value = ephemeral.test_token.a.token
}
resource "test_thing" "t" {
  name              = "t"
  secret_wo         = ephemeral.test_token.b.token
  secret_wo_version = 1
}
#= apply
ephemeral "test_token" "a" {
  name = "a"
}
ephemeral "test_token" "b" {
  name  = "b"
  value = ephemeral.test_token.a.token
}
resource "test_thing" "t" {
  name              = "t"
  secret_wo         = ephemeral.test_token.b.token
  secret_wo_version = 2
}
#= apply -destroy

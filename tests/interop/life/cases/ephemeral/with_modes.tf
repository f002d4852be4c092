#= apply
ephemeral "test_token" "a" {
  name = "a"
}
resource "test_thing" "t" {
  name              = "t"
  secret_wo         = ephemeral.test_token.a.token
  secret_wo_version = 1
}
resource "test_thing" "u" {
  name = "u"
}
#= world t-1 computed=other
#= apply -refresh-only
#= apply -target=test_thing.u
#= apply -replace=test_thing.t

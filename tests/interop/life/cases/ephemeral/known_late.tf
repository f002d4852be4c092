#= apply
#< create t, open id of t
resource "test_thing" "t" {
  name = "t"
}
ephemeral "test_token" "a" {
  name = "id of ${test_thing.t.name}${substr(test_thing.t.id, 0, 0)}"
}
resource "test_thing" "u" {
  name              = "u"
  secret_wo         = ephemeral.test_token.a.token
  secret_wo_version = 1
}
#= apply

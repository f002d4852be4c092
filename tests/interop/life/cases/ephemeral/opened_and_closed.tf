#= apply
#< open a, close a
ephemeral "test_token" "a" {
  name = "a"
}
provider "test" {
  alias = "late"
  value = ephemeral.test_token.a.token
}
resource "test_thing" "t" {
  provider = test.late
  name     = "t"
}
#= apply
#= apply -destroy

#= apply
ephemeral "test_token" "a" {
  name = "a"
  lifecycle {
    precondition {
      condition     = 1 == 2
      error_message = "Never."
    }
  }
}
resource "test_thing" "t" {
  name              = "t"
  secret_wo         = ephemeral.test_token.a.token
  secret_wo_version = 1
}
#= apply
ephemeral "test_token" "a" {
  name = "a"
  lifecycle {
    postcondition {
      condition     = self.token == "other"
      error_message = "Another one."
    }
  }
}
resource "test_thing" "t" {
  name              = "t"
  secret_wo         = ephemeral.test_token.a.token
  secret_wo_version = 1
}

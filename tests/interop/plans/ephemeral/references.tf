#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

ephemeral "test_token" "n" {
  name = "x"
}
resource "test_thing" "a" {
  depends_on = [ephemeral.test_token.zz]
}
resource "test_thing" "b" {
  name = ephemeral.test_token.zz.token
}
#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

ephemeral "test_token" "n" {
  name = "x"
}
resource "test_thing" "c" {
  secret_wo = ephemeral.test_token.n.tok
}
#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

ephemeral "test_token" "n" {
  name = "x"
}
resource "test_thing" "d" {
  secret_wo = ephemeral.test_token.n[0].token
}
#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

resource "test_thing" "g" {
  secret_wo = ephemeral.test_token
}
resource "test_thing" "h" {
  secret_wo = ephemeral
}

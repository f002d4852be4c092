#= apply
resource "mixed_secret" "a" {
  name        = "a"
  password_wo = ephemeral.mixed_new_token.t.value
}
ephemeral "mixed_new_token" "t" {
  name = "t"
}
resource "mixed_new_secret" "b" {
  name     = mixed_secret.a.id
  password = ephemeral.mixed_new_token.t.value
  version  = 1
}
resource "mixed_attribute" "c" {
  name = "c"
  peer {
    host = mixed_new_secret.b.id
  }
  dynamic "hop" {
    for_each = ["x", mixed_new_secret.b.name]
    content {
      host = hop.value
    }
  }
  range = []
}
resource "mixed_identified" "d" {
  name = "d"
}
resource "mixed_new_identified" "e" {
  name = mixed_identified.d.id
}
#= plan
#= apply -refresh-only
#= world new-1 'name=new' 'text=found'
#= apply
resource "mixed_secret" "a" {
  name        = "a"
  password_wo = "other"
}
resource "mixed_new_secret" "b" {
  name    = mixed_secret.a.id
  version = 2
}
import {
  to = mixed_identified.d
  id = "new-1"
}
resource "mixed_identified" "d" {
  name = "new"
  text = "changed"
}
removed {
  from = mixed_attribute.c
  lifecycle {
    destroy = false
  }
}
#= run validate -json
resource "mixed_secret" "a" {
  name     = 5
  password = "x"
  nope     = 1
}
resource "mixed_new_secret" "b" {
  version = "q"
  nope {
  }
}
output "o" {
  value = provider::mixed::nope(1)
}
#= apply -destroy
resource "mixed_secret" "a" {
  name = "a"
}

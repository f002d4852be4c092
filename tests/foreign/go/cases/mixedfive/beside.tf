#= apply
resource "mixedfive_secret" "a" {
  name        = "a"
  password_wo = ephemeral.mixedfive_new_token.t.value
}
ephemeral "mixedfive_new_token" "t" {
  name = "t"
}
resource "mixedfive_new_secret" "b" {
  name     = mixedfive_secret.a.id
  password = ephemeral.mixedfive_new_token.t.value
  version  = 1
}
resource "mixedfive_attribute" "c" {
  name = "c"
  peer {
    host = mixedfive_new_secret.b.id
  }
  dynamic "hop" {
    for_each = ["x", mixedfive_new_secret.b.name]
    content {
      host = hop.value
    }
  }
  range = []
}
resource "mixedfive_identified" "d" {
  name = "d"
}
resource "mixedfive_new_identified" "e" {
  name = mixedfive_identified.d.id
}
#= plan
#= apply -refresh-only
#= world new-1 'name=new' 'text=found'
#= apply
resource "mixedfive_secret" "a" {
  name        = "a"
  password_wo = "other"
}
resource "mixedfive_new_secret" "b" {
  name    = mixedfive_secret.a.id
  version = 2
}
import {
  to = mixedfive_identified.d
  id = "new-1"
}
resource "mixedfive_identified" "d" {
  name = "new"
  text = "changed"
}
removed {
  from = mixedfive_attribute.c
  lifecycle {
    destroy = false
  }
}
#= run validate -json
resource "mixedfive_secret" "a" {
  name     = 5
  password = "x"
  nope     = 1
}
resource "mixedfive_new_secret" "b" {
  version = "q"
  nope {
  }
}
output "o" {
  value = provider::mixedfive::nope(1)
}
#= apply -destroy
resource "mixedfive_secret" "a" {
  name = "a"
}

#= apply
resource "framework_thing" "a" {
  name = "a"
}
ephemeral "framework_token" "alone" {
  name = "alone"
}
ephemeral "framework_token" "behind" {
  name  = framework_thing.a.name
  scope = [framework_thing.a.id]
}
ephemeral "framework_token" "many" {
  for_each = toset(["x", "y"])
  name     = each.key
}
locals {
  used = ephemeral.framework_token.behind.value
}
#= world a-1 'zone="moved"'
#= apply -refresh-only
#= save -refresh-only
#= use
#= apply
#= apply -refresh-only -target=framework_thing.a
#= apply -target=framework_thing.a
#= apply -refresh=false
#= fail open behind
#= plan -refresh-only
#= apply -destroy

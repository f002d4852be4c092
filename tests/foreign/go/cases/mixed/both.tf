#= apply
resource "mixed_block" "a" {
  name = "a"
  rule {
    port = 1
  }
}
resource "mixed_new_thing" "b" {
  name = "b"
  text = mixed_block.a.policy[0].mode
  any  = mixed_block.a.rule
}
resource "mixed_new_blocked" "c" {
  name = mixed_new_thing.b.id
  part {
    size = 1
  }
}
data "mixed_new_repeat" "a" {
  text = mixed_block.a.id
}
output "joined" {
  value = provider::mixed::joined("-", mixed_block.a.id, mixed_new_thing.b.id)
}
#= plan
#= apply
resource "mixed_block" "a" {
  name = "a"
  disk {
    size = 1
  }
}
resource "mixed_new_thing" "b" {
  name = "b"
  text = "sour"
}
#= plan
resource "mixed_new_thing" "b" {
  name = "b"
  text = "bitter"
}
#= apply -destroy
#= apply
resource "mixed_new_nested" "a" {
  name = "n"
  map  = { k = { key = "v" } }
}
resource "mixed_bare" "a" {
  name = "b"
  empty {}
}
#= plan

#= apply
resource "mixedfive_block" "a" {
  name = "a"
  rule {
    port = 1
  }
}
resource "mixedfive_new_thing" "b" {
  name = "b"
  text = mixedfive_block.a.policy[0].mode
  any  = mixedfive_block.a.rule
}
resource "mixedfive_new_blocked" "c" {
  name = mixedfive_new_thing.b.id
  part {
    size = 1
  }
}
data "mixedfive_new_repeat" "a" {
  text = mixedfive_block.a.id
}
output "joined" {
  value = provider::mixedfive::joined("-", mixedfive_block.a.id, mixedfive_new_thing.b.id)
}
#= plan
#= apply
resource "mixedfive_block" "a" {
  name = "a"
  disk {
    size = 1
  }
}
resource "mixedfive_new_thing" "b" {
  name = "b"
  text = "sour"
}
#= plan
resource "mixedfive_new_thing" "b" {
  name = "b"
  text = "bitter"
}
#= apply -destroy

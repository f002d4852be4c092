#= validate
data "plain_thing" "a" {
  provider = my_plain
}
resource "plain_thing" "b" {
  provider = PLAIN
}
ephemeral "plain thing" "e" {}

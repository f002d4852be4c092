#= validate
data "plain_thing" "a" {
  provider = my_plain
}
resource "plain_thing" "b" {
  provider = PLAIN
}
ephemeral "plain thing" "e" {}
#= validate
resource "aws-_foo" "test" {
}
data "a--b_bar" "test" {
}

#= apply
resource "legacy_more" "a" {
  name = "vanished"
}
resource "legacy_basic" "a" {
  name = "a"
  text = legacy_more.a.id
}
#= run apply -auto-approve -json
resource "legacy_more" "a" {
  name = "slow"
  timeouts {
    create = "1ms"
  }
}
#= apply
resource "legacy_more" "a" {
  name = "again"
  timeouts {
    create = "5m"
  }
}
#= plan
#= run import -no-color legacy_more.b again-1
resource "legacy_more" "a" {
  name = "again"
}
resource "legacy_more" "b" {
  name = "again"
}
#= run plan -json
#= run import -no-color legacy_more.c again-1+other-9
resource "legacy_more" "a" {
  name = "again"
}
resource "legacy_more" "c" {
  name = "again"
}

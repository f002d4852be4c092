#= env TEST_VERSION=1
#= apply
resource "legacy_more" "a" {
  name = "a"
  timeouts {
    create = "5m"
  }
}
resource "legacy_basic" "b" {
  name = "b"
}
resource "legacy_versioned" "c" {
  name = "c"
}
#= gone a-1
#= gone b-1
#= gone c-1
#= plan -refresh=false
#= plan
#= apply
#= gone a-2
#= apply -refresh-only
#= apply
#= run taint legacy_more.a
#= gone a-3
#= apply
#= gone a-4
#= apply -destroy

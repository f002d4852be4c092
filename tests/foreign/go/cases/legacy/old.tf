#= apply
provider "legacy" {
  ancient = true
  say     = "a note of the provider"
}
resource "legacy_old" "a" {
  name  = "a"
  plain = "p"
  part {
    size = 1
  }
  part {
    color = "red"
  }
}
data "legacy_old" "a" {
  text = "t"
}
output "host" {
  value = legacy_old.a.host
}
#= plan
#= apply
provider "legacy" {}
resource "legacy_old" "a" {
  name = "a"
  text = data.legacy_old.a.id
}
data "legacy_old" "a" {
  text = legacy_old.b.id
}
resource "legacy_old" "b" {
  name = "b"
}
#= apply -destroy

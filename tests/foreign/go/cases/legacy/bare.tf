#= apply
resource "legacy_bare" "none" {
  name = "none"
}
resource "legacy_bare" "empty" {
  name = "empty"
  empty {}
}
resource "legacy_bare" "half" {
  name = "half"
  empty {
    part {}
  }
}
resource "legacy_bare" "nothing" {
  name = "nothing"
  empty {
    on    = false
    hosts = []
  }
}
#= plan
#= apply
resource "legacy_bare" "none" {
  name = "none"
  empty {}
}
resource "legacy_bare" "empty" {
  name = "empty"
}
resource "legacy_bare" "half" {
  name = "half"
  empty {
    part {
      size = 0
    }
    hosts = [""]
  }
}
resource "legacy_bare" "nothing" {
  name = "nothing"
  empty {
    hosts = []
  }
}
#= plan
#= apply -refresh-only

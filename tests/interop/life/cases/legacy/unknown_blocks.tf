#= apply
resource "test_legacy" "a" {
  name   = "a"
  breaks = "unset"
}
resource "test_legacy" "grows" {
  name   = "grows"
  breaks = "unset grow null"
  part {
    a = "configured"
  }
}
resource "test_thing" "user" {
  name = "user"
  text = join(",", test_legacy.grows.made[*].a)
}

#= apply

#= apply
resource "test_legacy" "a" {
  name   = "a"
  note   = "updated"
  breaks = "unset"
}
resource "test_legacy" "grows" {
  name   = "grows"
  note   = "updated"
  breaks = "unset grow null"
  part {
    a = "configured"
  }
}
resource "test_thing" "user" {
  name = "user"
  text = join(",", test_legacy.grows.made[*].a)
}

#= plan -refresh=false

#= apply
resource "test_legacy" "a" {
  name   = "replaced"
  breaks = "unset"
  made {
    a = "now configured"
  }
}

#= save -destroy

#= use

#= run validate -json
resource "legacy_rules" "none" {
  name = "none"
}
resource "legacy_rules" "all" {
  name   = "all"
  first  = "1"
  second = "2"
  one    = ""
  left   = 1
  right  = 2
  user   = "u"
  port   = 70000
  color  = "green"
  taste  = "bitter"
  levels = { low = "1", HIGH = "2" }
  sizes  = [0, 1, 2]
}
#= run validate -json
resource "legacy_rules" "blocks" {
  name  = "blocks"
  first = "1"
  one   = "1"
  taste = "sour"
  part {
    size = 10
  }
  part {
    size  = 5
    taste = "bitter"
  }
  part {
    size = 0
  }
  member {
    name = ""
  }
}
#= plan
resource "legacy_rules" "one" {
  name  = "one"
  first = "1"
  two   = "2"
  sizes = []
  part {
    size  = 1
    taste = "sour"
  }
}
#= plan
resource "legacy_rules" "unknown" {
  name   = "unknown"
  first  = legacy_basic.a.id
  second = legacy_basic.a.zone
  two    = legacy_basic.a.id
  port   = legacy_basic.a.serial
  left   = legacy_basic.a.serial
  right  = legacy_basic.a.serial
  part {
    size = legacy_basic.a.serial
  }
  dynamic "member" {
    for_each = [1, 2]
    content {
      name = "${legacy_basic.a.id}-${member.value}"
    }
  }
}
resource "legacy_basic" "a" {
  name = "a"
}
#= apply
resource "legacy_rules" "late" {
  name  = "late"
  first = "1"
  one   = "1"
  taste = legacy_basic.a.id
  part {
    size = legacy_basic.a.serial
  }
}
resource "legacy_basic" "a" {
  name = "a"
}
#= run apply -auto-approve -json
resource "legacy_rules" "late" {
  name  = "late"
  first = "1"
  one   = "1"
  part {
    size = legacy_basic.a.size + legacy_basic.b.serial
  }
}
resource "legacy_basic" "a" {
  name = "a"
  size = 20
}
resource "legacy_basic" "b" {
  name = "b"
}

#= apply
resource "legacy_more" "a" {
  name = "a"
  part {
    label   = "One"
    content = "UPPER"
    secret  = "s"
  }
  member {
    name = "x"
    note = "first"
    role {
      name = "owner"
    }
    role {
      name = "reader"
      on   = false
    }
  }
  member {
    name = "y"
  }
}
#= plan
#= apply
resource "legacy_more" "a" {
  name = "a"
  part {
    label   = "ONE"
    content = "upper"
    kind    = "fancy"
    secret  = "t"
  }
  member {
    name = "x"
    note = "second"
    role {
      name = "reader"
    }
  }
  member {
    name = "z"
  }
  total = 0.3
}
#= plan
#= apply
resource "legacy_more" "a" {
  name = "a"
  part {
    kind = "other"
  }
  total = 0.5
}
#= apply
resource "legacy_more" "a" {
  name  = "a"
  total = 2.5
}
#= plan
resource "legacy_more" "a" {
  name  = "a"
  total = 1e30
  dynamic "member" {
    for_each = toset(["b", "c"])
    content {
      name = member.value
    }
  }
}

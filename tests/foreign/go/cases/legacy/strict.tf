#= apply
resource "legacy_strict" "a" {
  name = "a"
  part {
    label = "One"
  }
  member {
    name = "x"
  }
}
#= plan
#= apply
resource "legacy_strict" "b" {
  name = "b"
  part {
    content = "UPPER"
  }
}
#= apply
resource "legacy_strict" "a" {
  name  = "a"
  total = 0.1
  part {
    label = "ONE"
  }
  member {
    name = "x"
    note = "n"
  }
}

#= run validate -json
resource "legacy_rules" "all" {
  name   = "all"
  first  = "1"
  one    = "x"
  levels = {
    low   = "1"
    "mid" = upper("x")
    up    = true ? "a" : "b"
    fn    = "${"a"}b"
    par   = ("x")
    tpl   = "x${1}"
    idx   = ["a"][0]
    ref   = "x"
    wrap  = "${local.x}"
    neg   = -1
    add   = 1 + 2
  }
  sizes = concat([0], [1])
}
resource "legacy_rules" "two" {
  name   = "all"
  first  = "1"
  one    = "x"
  levels = merge({ low = 1 }, {})
  sizes  = [for x in [0] : x]
  part {
    size = 0
  }
  dynamic "part" {
    for_each = [1]
    content {
      size  = 0
      taste = "bitter"
    }
  }
}
resource "legacy_rules" "three" {
  name   = "all"
  first  = "1"
  one    = "x"
  dynamic "part" {
    for_each = [1]
    content {
      size  = 0
      taste = "bitter"
    }
  }
  sizes = [1, -(2)]
  levels = {
    "low" = "x", (local.x) = "y"
  }
}
locals {
  x = "lower"
}

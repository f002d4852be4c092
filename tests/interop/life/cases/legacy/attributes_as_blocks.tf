variable "names" {
  type    = list(string)
  default = ["one", "two"]
}
#= apply
resource "test_legacy" "a" {
  name = "a"
  rule {
    name = "first"
    port {
      from = 1
    }
    port {
      to   = 2
      from = 1
    }
  }
  rule {}
}
resource "test_legacy" "dynamic" {
  name = "dynamic"
  dynamic "rule" {
    for_each = var.names
    content {
      name = rule.value
      dynamic "port" {
        for_each = [rule.key]
        iterator = it
        content {
          from = it.value
        }
      }
    }
  }
}
resource "test_legacy" "late" {
  name = "late"
  dynamic "rule" {
    for_each = test_legacy.a.id == "" ? [] : ["x"]
    content {
      name = rule.value
    }
  }
}
resource "test_legacy" "empty" {
  name = "empty"
  rule = []
}

#= apply

#= apply
resource "test_legacy" "a" {
  name = "a"
  rule = []
}
resource "test_legacy" "dynamic" {
  name = "dynamic"
  dynamic "rule" {
    for_each = []
    content {}
  }
}
resource "test_legacy" "empty" {
  name   = "empty"
  breaks = "unset"
  note   = "x"
}

#= plan
resource "test_legacy" "a" {
  name = "a"
  rule = []
  rule {}
}

#= plan
resource "test_legacy" "a" {
  name = "a"
  rule {
    absent = 1
  }
}

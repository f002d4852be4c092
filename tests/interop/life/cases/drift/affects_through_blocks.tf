#= apply
resource "test_thing" "z" {
  count = 5
  name  = "z${count.index}"
}
resource "test_thing" "counted" {
  count      = test_thing.z[0].name == "z0" ? 1 : 2
  name       = "counted${count.index}"
  depends_on = [test_thing.z]
  lifecycle {
    replace_triggered_by = [test_thing.z[4].forced]
    precondition {
      condition     = test_thing.z[3].name == "z3"
      error_message = "no"
    }
  }
}
resource "test_thing" "each" {
  for_each = { (test_thing.z[1].name) = 1 }
  name     = each.key
}
resource "test_blocks" "d" {
  name = "d"
  dynamic "list" {
    for_each = [test_thing.z[2].name]
    content {
      text = list.value
    }
  }
}
resource "test_thing" "u" {
  name  = test_blocks.d.list[0].text
  value = test_thing.each[test_thing.z[1].name].name
}
#= plan

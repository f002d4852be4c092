#= apply
resource "test_thing" "a" {
  count = 2
  name  = "a${count.index}"
  list  = ["x"]
}
resource "test_thing" "b" {
  count = 2
  name  = "b${count.index}"
  lifecycle {
    replace_triggered_by = [test_thing.a[count.index].list]
  }
}
resource "test_thing" "c" {
  for_each = toset(["p"])
  name     = each.key
  lifecycle {
    replace_triggered_by = [test_thing.a, test_thing.b[0].id]
  }
}
#= plan
#= apply
resource "test_thing" "a" {
  count = 2
  name  = "a${count.index}"
  list  = count.index == 0 ? ["x"] : ["y"]
}
resource "test_thing" "b" {
  count = 2
  name  = "b${count.index}"
  lifecycle {
    replace_triggered_by = [test_thing.a[count.index].list]
  }
}
resource "test_thing" "c" {
  for_each = toset(["p"])
  name     = each.key
  lifecycle {
    replace_triggered_by = [test_thing.a, test_thing.b[0].id]
  }
}
#= apply
resource "test_thing" "a" {
  count = 3
  name  = "a${count.index}"
  list  = count.index == 0 ? ["x"] : ["y"]
}
resource "test_thing" "b" {
  count = 3
  name  = "b${count.index}"
  lifecycle {
    replace_triggered_by = [test_thing.a[count.index].list]
  }
}
resource "test_thing" "c" {
  for_each = toset(["p"])
  name     = each.key
  lifecycle {
    replace_triggered_by = [test_thing.b[0].id]
  }
}
#= plan -replace 'test_thing.b[0]'
#= apply
resource "test_thing" "a" {
  count = 1
  name  = "a${count.index}"
}
resource "test_thing" "b" {
  name  = "b"
  lifecycle {
    replace_triggered_by = [test_thing.a[0].list]
  }
}
#= plan
resource "test_thing" "b" {
  name  = "b"
  lifecycle {
    replace_triggered_by = [test_thing.a[0].list]
  }
}

resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "c" {
  count = 1
  name  = "c"
}
#= run validate
resource "test_thing" "b" {
  lifecycle {
    replace_triggered_by = [test_thing.c[5], test_thing.c.name, test_thing.a.nope, test_thing.zz]
  }
}
#= plan
resource "test_thing" "b" {
  lifecycle {
    replace_triggered_by = [test_thing.c[5]]
  }
}
#= plan
resource "test_thing" "b" {
  lifecycle {
    replace_triggered_by = [test_thing.c.name]
  }
}
#= plan
resource "test_thing" "b" {
  lifecycle {
    replace_triggered_by = [test_thing.zz]
  }
}
#= apply
resource "test_thing" "b" {
  lifecycle {
    replace_triggered_by = [test_thing.a.nope]
  }
}

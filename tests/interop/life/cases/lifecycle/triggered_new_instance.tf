#= apply
resource "test_thing" "a" {
  count = 2
  name  = "a${count.index}"
}
resource "test_thing" "b" {
  count = 1
  name  = "b${count.index}"
  lifecycle {
    replace_triggered_by = [test_thing.a]
  }
}
#= apply
resource "test_thing" "a" {
  count = 2
  name  = "a${count.index}"
  tags  = { at = count.index }
}
resource "test_thing" "b" {
  count = 2
  name  = "b${count.index}"
  lifecycle {
    replace_triggered_by = [test_thing.a]
  }
}
#= plan

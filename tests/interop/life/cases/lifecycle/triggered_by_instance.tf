#= apply
resource "test_thing" "a" {
  count = 2
  name  = "a-${count.index}"
  list  = ["1"]
}
resource "test_thing" "b" {
  count = 2
  name  = "b-${count.index}"
  lifecycle {
    replace_triggered_by = [test_thing.a[count.index].list]
  }
}
#= apply
resource "test_thing" "a" {
  count = 2
  name  = "a-${count.index}"
  list  = count.index == 0 ? ["2"] : ["1"]
}
resource "test_thing" "b" {
  count = 2
  name  = "b-${count.index}"
  lifecycle {
    replace_triggered_by = [test_thing.a[count.index].list]
  }
}

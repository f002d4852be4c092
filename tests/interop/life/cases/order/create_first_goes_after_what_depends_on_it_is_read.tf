#= apply
resource "test_thing" "a" {
  for_each = toset(["x"])
  name = "a${each.key}"
  lifecycle {
    create_before_destroy = true
  }
}
data "test_data" "d" {
  name = "d"
  depends_on = [test_thing.a]
}
#= apply
#< create a0, data d, delete ax-1
resource "test_thing" "a" {
  count = 1
  name = "a${count.index}"
}
data "test_data" "d" {
  name = "d"
  depends_on = [test_thing.a]
}

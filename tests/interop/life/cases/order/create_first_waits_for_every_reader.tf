#= apply
resource "test_thing" "a" {
  count = 2
  name = "a${count.index}"
  forced = "1"
  lifecycle {
    create_before_destroy = true
  }
}
data "test_data" "d" {
  name = join(",", test_thing.a[*].id)
}
resource "test_thing" "u" {
  name = "u"
  value = test_thing.a[1].id
}
#= fail create a0
#= apply
resource "test_thing" "a" {
  count = 2
  name = "a${count.index}"
  forced = "2"
  lifecycle {
    create_before_destroy = true
  }
}
data "test_data" "d" {
  name = join(",", test_thing.a[*].id)
}
resource "test_thing" "u" {
  name = "u"
  value = test_thing.a[1].id
}
#= fail
#= apply

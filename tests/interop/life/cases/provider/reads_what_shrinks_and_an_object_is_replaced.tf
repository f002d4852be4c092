#= apply
resource "test_thing" "r" {
  count = 2
  name  = "r${count.index}"
}
data "test_data" "d" {
  name       = "d"
  depends_on = [test_thing.r]
}
provider "test" {
  alias = "p"
  value = data.test_data.d.result
}
resource "test_thing" "u" {
  name     = "u"
  forced   = join(",", test_thing.r[*].id)
  provider = test.p
}
#= apply
#< delete r1-1, data d, delete u-1, create u
resource "test_thing" "r" {
  count = 1
  name  = "r${count.index}"
}
data "test_data" "d" {
  name       = "d"
  depends_on = [test_thing.r]
}
provider "test" {
  alias = "p"
  value = data.test_data.d.result
}
resource "test_thing" "u" {
  name     = "u"
  forced   = join(",", test_thing.r[*].id)
  provider = test.p
}

#= apply
resource "test_thing" "r" {
  count = 2
  name  = "r${count.index}"
}
provider "test" {
  alias = "p"
  value = "k"
}
resource "test_thing" "u" {
  name     = "u"
  value    = join(",", test_thing.r[*].id)
  provider = test.p
}
#= apply
#< delete r1-1, create x, delete u-1
resource "test_thing" "r" {
  count = 1
  name  = "r${count.index}"
}
resource "test_thing" "x" {
  name       = "x"
  depends_on = [test_thing.r]
}
provider "test" {
  alias = "p"
  value = test_thing.x.id
}

#= apply
resource "test_thing" "r" {
  count = 2
  name  = "r${count.index}"
}
resource "test_thing" "x" {
  name  = "x"
  value = join(",", test_thing.r[*].id)
}
provider "test" {
  alias = "p"
  value = test_thing.x.id
}
resource "test_thing" "u" {
  name     = "u"
  forced   = join(",", test_thing.r[*].id)
  provider = test.p
}
#= apply
#< delete r1-1, update x-1, delete u-1, create u
resource "test_thing" "r" {
  count = 1
  name  = "r${count.index}"
}
resource "test_thing" "x" {
  name  = "x"
  value = join(",", test_thing.r[*].id)
}
provider "test" {
  alias = "p"
  value = test_thing.x.id
}
resource "test_thing" "u" {
  name     = "u"
  forced   = join(",", test_thing.r[*].id)
  provider = test.p
}

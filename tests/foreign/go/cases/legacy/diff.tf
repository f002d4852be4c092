#= apply
resource "legacy_diff" "a" {
  name = "a"
  size = 5
  kind = "k"
  part {
    kind = "x"
  }
}
resource "legacy_tagged" "a" {
  name = "t"
  tags = { env = "test" }
}
#= plan
#= apply
resource "legacy_diff" "a" {
  name  = "a"
  size  = 6
  kind  = "k"
  noise = " hum "
}
resource "legacy_tagged" "a" {
  name = "t"
  tags = { env = "test", of = legacy_diff.a.version }
}
resource "legacy_tagged" "u" {
  name = "u"
}
#= apply
resource "legacy_diff" "a" {
  name  = "a"
  size  = 4
  kind  = "k"
  noise = "buzz"
}
resource "legacy_tagged" "a" {
  name = "t"
  tags = { owner = "me" }
}
resource "legacy_tagged" "u" {
  name = "u"
  tags = {}
}
#= apply
resource "legacy_diff" "a" {
  name = legacy_tagged.a.id
  size = 4
  kind = "other"
}
resource "legacy_tagged" "a" {
  name = "changed"
}
resource "legacy_tagged" "u" {
  name = "u"
  tags = {}
}
#= plan
resource "legacy_diff" "a" {
  name = "a"
  size = 101
}
#= apply -destroy
resource "legacy_diff" "a" {
  name = "a"
}

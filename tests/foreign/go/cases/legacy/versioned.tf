#= env TEST_VERSION=0
#= apply
resource "legacy_versioned" "a" {
  name = "a"
  size = "5"
}
resource "legacy_versioned" "b" {
  name = "b"
}
#= env TEST_VERSION=1
#= plan
#= apply
resource "legacy_versioned" "a" {
  name = "a"
  size = 6
}
resource "legacy_versioned" "b" {
  name = "b"
}
#= env TEST_VERSION=2
#= plan
resource "legacy_versioned" "a" {
  name = "a"
  part {
    size = 6
  }
}

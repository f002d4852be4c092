#= apply
resource "test_legacy" "a" {
  name   = "a"
  size   = 1
  breaks = "apply"
}
resource "test_thing" "user" {
  name = "user"
  text = "${test_legacy.a.size}"
}

#= apply

#= apply
resource "test_legacy" "a" {
  name = "a"
  size = 2
}
resource "test_thing" "user" {
  name = "user"
  text = "${test_legacy.a.size}"
}

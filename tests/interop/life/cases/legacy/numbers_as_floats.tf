#= apply
resource "test_legacy" "a" {
  name   = "a"
  size   = 0.1
  breaks = "float"
}
resource "test_thing" "user" {
  name = "user"
  text = "${test_legacy.a.size * 3}"
}

#= apply

#= plan -refresh=false

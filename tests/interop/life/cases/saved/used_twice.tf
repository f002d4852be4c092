#= save
resource "test_thing" "a" {
  name   = "a"
}
#= use
#= use

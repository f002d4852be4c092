#= apply
resource "test_thing" "a" {
  name   = "a"
}
#= save -destroy
#= use
#= use

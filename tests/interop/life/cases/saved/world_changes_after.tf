#= apply
resource "test_thing" "a" {
  name   = "a"
}
#= save
resource "test_thing" "a" {
  name   = "a"
  list   = ["x"]
}
#= gone a-1
#= use
#= plan

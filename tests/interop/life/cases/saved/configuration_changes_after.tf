#= apply
resource "test_thing" "a" {
  name   = "a"
}
#= save
resource "test_thing" "a" {
  name   = "a"
  list   = ["x"]
}
#= file main.tf
resource "test_thing" "a" {
  name   = "a"
  list   = ["y"]
}
#= use
#= plan

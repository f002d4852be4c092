#= apply
resource "test_thing" "a" {
  name   = "a"
}
data "test_data" "d" {
  name  = "d"
  value = test_thing.a.chosen
}
#= plan -refresh=false
#= world a-1 chosen=other
#= plan -refresh=false
#= plan

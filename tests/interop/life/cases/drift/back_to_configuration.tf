#= apply
resource "test_thing" "a" {
  name   = "a"
  chosen = "x"
}
#= world a-1 chosen=other
#= run refresh
#= world a-1
#= plan
#= apply

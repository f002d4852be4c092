#= fail create a late, create b
#= apply
resource "framework_thing" "a" {
  name = "a"
}
resource "framework_nested" "b" {
  name = "b"
  list = [{ key = "a" }]
}
#= fail nothing
#= apply
#= fail update a, update b late
#= apply
resource "framework_thing" "a" {
  name = "a"
  text = "changed"
}
resource "framework_nested" "b" {
  name = "b"
  list = [{ key = "b" }]
}
#= fail delete a, read b-1
#= apply -destroy
#= apply -destroy -refresh=false
#= fail nothing
#= gone a-2
#= apply -refresh-only

#= env TEST_VERSION=1
#= apply
resource "framework_planned" "a" {
  name = "a"
  size = 1
}
resource "framework_identified" "b" {
  name = "b"
}
resource "framework_versioned" "c" {
  name = "c"
}
#= gone a-1
#= gone b-1
#= gone c-1
#= plan -refresh=false
#= plan
#= apply
#= gone a-2
#= apply -refresh-only
#= apply
#= run taint framework_planned.a
#= gone a-3
#= apply
#= gone a-4
#= apply -destroy

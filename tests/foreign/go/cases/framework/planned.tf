#= apply
resource "framework_planned" "a" {
  name = "a"
  size = 5
}
resource "framework_planned" "b" {
  name = "b"
  size = framework_planned.a.double
  tags = { odd = "x" }
}
#= plan
#= apply
resource "framework_planned" "a" {
  name = "a"
  size = 7
  tags = { k = framework_planned.b.id }
}
resource "framework_planned" "b" {
  name = "b"
  size = 3
}
#= plan
resource "framework_planned" "a" {
  name = "a"
  size = 101
}
#= plan -destroy
resource "framework_planned" "a" {
  name = "a"
  size = 7
}
#= apply
resource "framework_planned" "a" {
  name = "a"
  size = 7
}
resource "framework_planned" "many" {
  count = 2
  name  = "many${count.index}"
}
#= plan
resource "framework_planned" "a" {
  name = "a"
  size = 7
}
resource "framework_planned" "many" {
  count = 1
  name  = "many${count.index}"
}

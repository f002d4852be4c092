#= apply
resource "framework_nested" "a" {
  name = "a"
  hidden = [{ key = "k", secret = "s" }]
  list = [{ key = "k", secret = "s" }]
  set = [{ key = "k", secret = "s" }]
}
variable "s" {
  sensitive = true
  default = "q"
}
resource "framework_nested" "b" {
  name = "b"
  hidden = [{ key = var.s, secret = "s" }]
  single = { key = var.s, secret = var.s }
  map = { (nonsensitive(var.s)) = { key = var.s } }
}
#= plan

#= apply
variable "ok" {
  default = true
}
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.id
  lifecycle {
    precondition {
      condition     = var.ok && test_thing.a.id != ""
      error_message = "Not now."
    }
  }
}
resource "test_thing" "c" {
  name  = "c"
  value = test_thing.b.id
}
#= plan -var=ok=false
#= plan -destroy -var=ok=false

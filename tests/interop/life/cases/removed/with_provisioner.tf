#= apply
resource "test_thing" "a" {
  name = "a"
}
#= apply
removed {
  from = test_thing.a
  lifecycle {
    destroy = true
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${self.name} > gone"
  }
}
#= apply
output "gone" {
  value = file("gone")
}

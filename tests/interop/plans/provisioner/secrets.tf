#= apply
variable "secret" {
  default   = "hush"
  sensitive = true
}
resource "terraform_data" "a" {
  input = "a"
  provisioner "local-exec" {
    command     = "echo $S >> log"
    environment = { S = var.secret }
  }
  provisioner "local-exec" {
    command = "echo ${self.input} ${path.module} ${terraform.workspace} >> log"
  }
}
resource "terraform_data" "keyed" {
  for_each = toset(["x", "y"])
  input    = each.key
  provisioner "local-exec" {
    command = "echo ${each.value} >> log.${each.key}"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo bye ${each.key} ${path.module} >> log.${each.key}"
  }
}
#= apply -destroy
#= apply
output "log" {
  value = [file("log"), file("log.x"), file("log.y")]
}

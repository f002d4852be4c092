#= file child/main.tf
variable "word" {}
resource "terraform_data" "a" {
  input = var.word
  provisioner "local-exec" {
    command = "echo ${var.word} ${path.module} >> log.${var.word}"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo bye ${self.input} ${path.module} >> log.${self.input}"
  }
}
#= apply
module "m" {
  source   = "./child"
  for_each = toset(["x", "y"])
  word     = each.key
}
#= apply
module "m" {
  source   = "./child"
  for_each = toset(["y"])
  word     = each.key
}
#= apply -destroy
#= apply
module "m" {
  source   = "./child"
  for_each = toset([])
  word     = each.key
}
output "log" {
  value = [file("log.x"), file("log.y")]
}

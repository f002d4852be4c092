#= plan
resource "terraform_data" "a" {
  input = 1
  provisioner "local-exec" {
    command = "echo ${terraform_data.z.id}"
  }
  connection {
    host = terraform_data.y.id
  }
}
resource "terraform_data" "y" {}
resource "terraform_data" "z" {}
#= apply
#= plan

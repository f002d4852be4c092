#= plan
resource "terraform_data" "a" {
  input = 1
  provisioner "local-exec" {
    command = ""
  }
}
#= apply
#= plan

#= apply
resource "terraform_data" "maker" {
  input = "made"
  provisioner "local-exec" {
    command = "echo true > made"
  }
}
resource "terraform_data" "user" {
  provisioner "local-exec" {
    command = file(terraform_data.maker.output)
  }
}
#= plan
resource "terraform_data" "maker" {
  input = "another"
  provisioner "local-exec" {
    command = "echo true > made"
  }
}
resource "terraform_data" "user" {
  provisioner "local-exec" {
    command = file(terraform_data.maker.output)
  }
}

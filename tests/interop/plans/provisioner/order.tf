#= apply
resource "terraform_data" "a" {
  input = "a"
  provisioner "local-exec" {
    command = "echo first ${self.input} >> log"
  }
  provisioner "local-exec" {
    command     = "echo second $WORD >> log"
    environment = { WORD = "word", NONE = null }
    interpreter = ["/bin/sh", "-c"]
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo bye ${self.input} >> log"
  }
}

resource "terraform_data" "b" {
  count = 2
  input = terraform_data.a.output
  provisioner "local-exec" {
    command     = "echo b$INDEX >> log${count.index}"
    environment = { INDEX = count.index }
    quiet       = true
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo bye ${count.index} >> log${count.index}"
  }
}
#= apply
resource "terraform_data" "a" {
  input = "a2"
  provisioner "local-exec" {
    command = "echo first ${self.input} >> log"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo bye ${self.input} >> log"
  }
}

resource "terraform_data" "b" {
  count = 1
  input = terraform_data.a.output
  provisioner "local-exec" {
    when    = destroy
    command = "echo bye ${count.index} >> log${count.index}"
  }
}
#= apply -replace=terraform_data.a
#= apply -destroy
#= apply
output "log" {
  value = [file("log"), file("log0"), file("log1")]
}

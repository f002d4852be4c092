#= apply
resource "terraform_data" "refused" {
  input = "x"
  provisioner "local-exec" {
    command = "exit 1"
  }
  lifecycle {
    postcondition {
      condition     = self.output == "y"
      error_message = "Not y."
    }
  }
}
resource "terraform_data" "accepted" {
  input = "x"
  provisioner "local-exec" {
    command = "exit 1"
  }
  lifecycle {
    postcondition {
      condition     = self.output == "x"
      error_message = "Not x."
    }
  }
}
resource "terraform_data" "continued" {
  input = "x"
  provisioner "local-exec" {
    command    = "exit 1"
    on_failure = continue
  }
  lifecycle {
    postcondition {
      condition     = self.output == "y"
      error_message = "Not y."
    }
  }
}
#= apply

# A dynamic block for a type of block that is not there is what is wrong, whatever its content mentions.
#= validate
resource "terraform_data" "x" {
  dynamic "bogus" {
    for_each = [1]
    content {
      a = bogus.key
    }
  }
}
#= validate
resource "terraform_data" "x" {
  input = var.nope
  provisioner "local-exec" {
    command = "x"
    dynamic "bogus" {
      for_each = [1]
      content {
        a = bogus.key
      }
    }
  }
}
#= validate
resource "terraform_data" "x" {
  input = 2
  _ {
    input = 1
  }
}

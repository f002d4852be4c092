# Functions that read files, and templates from files.
#= file data.txt
Some text.
#= file greet.tftpl
Hello %{ for n in names ~}${upper(n)} %{ endfor ~}!
#= apply
output "o" {
  value = {
    file     = file("${path.module}/data.txt")
    exists   = [fileexists("data.txt"), fileexists("missing")]
    set      = fileset(path.module, "*.txt")
    base64   = filebase64("data.txt")
    hash     = filesha256("data.txt")
    template = templatefile("greet.tftpl", { names = ["a", "b"] })
    string   = templatestring(local.t, { x = 1 })
  }
}
locals {
  t = "x is $${x}"
}

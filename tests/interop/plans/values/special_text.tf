# Text that JSON and HTML escape.
#= apply
resource "terraform_data" "a" {
  input = "<a href=\"x\">&amp;</a> \t\n \\ \u2028 \u00e9 e\u0301 \U0001F600 $${x} %%{y}"
}
resource "terraform_data" "b" {
  input = <<-EOT
    one
      two
    three
  EOT
}
output "a" {
  value = terraform_data.a.output
}
#= plan

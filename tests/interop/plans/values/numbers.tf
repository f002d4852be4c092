# Numbers as they are printed.
#= apply
resource "terraform_data" "a" {
  input = [0, -0, 1e3, 1.50, 1 / 3, 2 / 3 * 3, 9007199254740993, 0.1 + 0.2, 1e100, 1e-7, -5 % 3, 12345678.901234567]
}
output "n" {
  value = [1 / 3, 1e21, 123456789 * 987654321987654321]
}
#= plan

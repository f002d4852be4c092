#= apply
resource "terraform_data" "single" {
  input = "x"
}
resource "terraform_data" "counted" {
  count = 3
  input = count.index
}
resource "terraform_data" "each" {
  for_each = toset(["k", "l"])
  input    = each.key
}
#= apply
moved {
  from = terraform_data.single
  to   = terraform_data.single["only"]
}
moved {
  from = terraform_data.counted[0]
  to   = terraform_data.counted["zero"]
}
moved {
  from = terraform_data.counted[2]
  to   = terraform_data.two
}
moved {
  from = terraform_data.each["k"]
  to   = terraform_data.each[1]
}
resource "terraform_data" "single" {
  for_each = toset(["only"])
  input    = "x"
}
resource "terraform_data" "counted" {
  for_each = toset(["zero", "new"])
  input    = each.key
}
resource "terraform_data" "two" {
  input = 2
}
resource "terraform_data" "each" {
  count = 2
  input = "k"
}

#= apply
resource "terraform_data" "old" {
  count = 3
  input = count.index
}
resource "terraform_data" "x" {
  input = "x"
}
#= plan
moved {
  from = terraform_data.old
  to   = terraform_data.new
}
moved {
  from = terraform_data.old[1]
  to   = terraform_data.single
}
moved {
  from = terraform_data.x
  to   = terraform_data.new[5]
}
moved {
  from = terraform_data.new[2]
  to   = terraform_data.late
}
resource "terraform_data" "new" {
  count = 6
  input = count.index
}
resource "terraform_data" "single" {
  input = 1
}
resource "terraform_data" "late" {
  input = 2
}
#= apply
moved {
  from = terraform_data.old[1]
  to   = terraform_data.single
}
moved {
  from = terraform_data.x
  to   = terraform_data.new[0]
}
moved {
  from = terraform_data.old
  to   = terraform_data.new
}
resource "terraform_data" "new" {
  count = 3
  input = count.index
}
resource "terraform_data" "single" {
  input = 1
}

#= apply
resource "terraform_data" "old" {
  count = 2
}
#= plan
moved {
  from = terraform_data.old
  to   = terraform_data.new
}
moved {
  from = terraform_data.old[1]
  to   = terraform_data.new[5]
}
resource "terraform_data" "new" {
  count = 2
}

#= plan
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
moved {
  from = terraform_data.a
  to   = terraform_data.c
}
moved {
  from = terraform_data.d
  to   = terraform_data.c
}
moved {
  from = terraform_data.d
  to   = terraform_data.c
}
#= validate

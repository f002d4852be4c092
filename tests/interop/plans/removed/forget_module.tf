#= apply
resource "terraform_data" "a" {
  input = "x"
}
resource "terraform_data" "b" {
  input = "x"
}
#= apply
moved {
  from = terraform_data.a
  to   = module.m["k"].terraform_data.a
}
moved {
  from = terraform_data.b
  to   = module.m.module.n[0].terraform_data.b
}
removed {
  from = module.m
  lifecycle {
    destroy = false
  }
}

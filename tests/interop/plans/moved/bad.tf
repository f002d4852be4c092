#= validate
moved {
  from = terraform_data.a
}
moved {
  from = terraform_data.a
  to   = "terraform_data.b"
}
moved {
  from = terraform_data.a
  to   = module.b
}
moved {
  from = terraform_data.a[count.index]
  to   = terraform_data.b
}
moved {
  from = terraform_data.a
  to   = var.x
}
moved {
  from = terraform_data.a["x"].foo
  to   = terraform_data.c
}
moved {
  from = 1 + 2
  to   = terraform_data.d
}
moved {
  from = terraform_data
  to   = terraform_data.e
}
moved {
  from = terraform_data.f[*]
  to   = terraform_data.g
}
moved "x" {
  from = terraform_data.a
  to   = terraform_data.b
}
moved {
  from = terraform_data.h
  to   = terraform_data.i
  foo  = 1
}

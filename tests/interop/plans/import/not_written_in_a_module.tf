#= validate
import {
  to = module.m.terraform_data.c
  id = "x"
}

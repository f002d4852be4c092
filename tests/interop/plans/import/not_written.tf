#= plan
import {
  to = terraform_data.c
  id = "x"
}
#= plan -target=terraform_data.other
#= validate

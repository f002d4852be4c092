#= validate
import {
  for_each = { a = "a" }
  to       = terraform_data.c[each.key]
  id       = "x"
}

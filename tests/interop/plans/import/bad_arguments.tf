#= validate
import {
}
import {
  to = terraform_data.a
}
import {
  id = "x"
}
import {
  to = data.foo.x
  id = "a"
}
import {
  to = module.x
  id = "a"
}
import {
  to    = terraform_data.c
  id    = "a"
  count = 2
}

#= world a name=a

#= world leaks name=leaks

#= apply
import {
  to = test_legacy.a
  id = "a"
}
resource "test_legacy" "a" {
  name   = "a"
  breaks = "null"
}

#= apply

#= plan
import {
  to = test_legacy.leaks
  id = "leaks"
}
resource "test_legacy" "leaks" {
  name   = "leaks"
  breaks = "null"
}

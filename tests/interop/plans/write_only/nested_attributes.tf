#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

resource "test_nested" "a" {
  name = "a"
  single = {
    text     = "x"
    password = "hush"
    inner    = { password = "hush", secret = "s" }
  }
  list = [
    { text = "one", password = "hush" },
    { text = "two", inner = [{ password = "hush" }] },
  ]
  map = {
    k = { password = "hush", inner = { l = { password = "hush" } } }
  }
  set = [{ text = "one" }, { text = "two", secret = "s" }]
}
#= plan
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

resource "test_nested" "a" {
  name = "a"
  single = {
    text     = "y"
    password = "hush"
  }
  list = [
    { text = "two", inner = [{ password = "other" }] },
    { text = "three" },
  ]
  map = {
    k = { password = "hush", inner = { l = { text = "x", password = "hush" } } }
    m = {}
  }
  set = [{ text = "two", secret = "s" }, { number = 3 }]
}

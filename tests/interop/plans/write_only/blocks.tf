#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

resource "test_blocks" "a" {
  name = "a"
  group {
    password = "hush"
  }
  single {
    text     = "x"
    password = "hush"
    inner {
      password = "hush"
    }
  }
  list {
    text     = "one"
    password = "hush"
    inner {
      text     = "two"
      password = "hush"
    }
  }
  map "k" {
    password = "hush"
    inner "l" {
      password = "hush"
    }
  }
  set {
    text = "x"
    inner {
      secret = "s"
    }
  }
}
#= plan
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

resource "test_blocks" "a" {
  name = "a"
  single {
    text     = "x"
    password = "hush"
  }
  list {
    text     = "zero"
  }
  list {
    text     = "one"
    password = "hush"
  }
  map "k" {
    text     = "y"
    password = "hush"
  }
  set {
    text = "y"
  }
}

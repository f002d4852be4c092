#= file m/main.tf
variable "at" {}
variable "want" {
  default = "x"
}
variable "fails" {
  default = null
}
resource "test_thing" "in" {
  name  = "in${var.want}${var.at}"
  value = var.want
}
check "known" {
  assert {
    condition     = var.want == "x"
    error_message = "Not x."
  }
}
check "late" {
  assert {
    condition     = test_thing.in.id == "inx0-1"
    error_message = "Not in-1."
  }
  assert {
    condition     = var.want == "x"
    error_message = "Not x either."
  }
}
check "read" {
  data "test_data" "d" {
    name  = "d"
    fails = var.fails
  }
  assert {
    condition     = data.test_data.d.result == "data of d"
    error_message = "Not d."
  }
}
check "read_and_known" {
  data "test_data" "e" {
    name  = "e"
    fails = var.fails
  }
  assert {
    condition     = var.want == "x"
    error_message = "Not x, here."
  }
  assert {
    condition     = data.test_data.e.result == "data of d"
    error_message = "Not d, here."
  }
}
check "errs" {
  assert {
    condition     = var.want == "x" ? true : tobool(var.want)
    error_message = "Errs."
  }
}
check "errs_late" {
  assert {
    condition     = tobool(test_thing.in.computed)
    error_message = "Errs late."
  }
}
#= apply
module "m" {
  source = "./m"
  count  = 2
  at     = count.index
  want   = count.index == 0 ? "x" : "y"
}
#= run show -no-color -json
#= plan
#= plan
module "m" {
  source = "./m"
  count  = 2
  at     = count.index
  fails  = count.index == 0 ? null : "boo"
}
#= apply
module "m" {
  source = "./m"
  count  = 2
  at     = count.index
  fails  = "boo"
}
#= plan -refresh-only
#= plan -destroy
#= plan -target module.m[0]
#= apply -target module.m[0].test_thing.in
module "m" {
  source = "./m"
  count  = 3
  at     = count.index
  want   = "z"
}
#= apply
module "m" {
  source = "./m"
  count  = 0
  at     = count.index
}
#= apply -destroy

# The details of errors of values, functions, operators and references.
#= file base.tf
terraform {
  required_providers {
    test = {
      source = "formwork/test"
    }
  }
}
variable "sec" {
  type      = string
  sensitive = true
  default   = "s"
}
variable "eph" {
  type      = string
  ephemeral = true
  default   = "e"
}
variable "s" {
  type    = string
  default = null
}
resource "terraform_data" "new" {
  input = 1
}
#= plan
resource "terraform_data" "a" {
  count = null
}
resource "terraform_data" "b" {
  count = -1
}
resource "terraform_data" "c" {
  count = 1.5
}
resource "terraform_data" "d" {
  count = "x"
}
resource "terraform_data" "e" {
  count = []
}
resource "terraform_data" "f" {
  count = var.eph
}
resource "terraform_data" "g" {
  count = var.s
}
#= plan
resource "terraform_data" "a" {
  count = terraform_data.new.output
}
resource "terraform_data" "b" {
  for_each = terraform_data.new.output
}
resource "terraform_data" "c" {
  for_each = toset([terraform_data.new.id])
}
#= plan
resource "terraform_data" "a" {
  for_each = null
}
resource "terraform_data" "b" {
  for_each = toset([var.sec])
}
resource "terraform_data" "c" {
  for_each = toset([1])
}
resource "terraform_data" "d" {
  for_each = toset([null])
}
resource "terraform_data" "e" {
  for_each = ["a"]
}
resource "terraform_data" "f" {
  for_each = toset([var.s, "a"])
}
resource "terraform_data" "g" {
  for_each = 1
}
#= plan
resource "terraform_data" "a" {
  for_each = toset([var.eph])
}
resource "terraform_data" "c" {
  count = length(var.eph)
}
#= plan
output "a" {
  value = file("nosuch.txt")
}
output "b" {
  value = templatefile("base.tf", {})
}
output "c" {
  value = regex("a", "b")
}
output "d" {
  value = element([], 0)
}
output "e" {
  value = lookup({}, "a")
}
output "f" {
  value = cidrsubnet("10.0.0.0/8", 30, 1)
}
output "g" {
  value = base64decode("%%")
}
output "h" {
  value = yamldecode("a: b: c")
}
output "i" {
  value = csvdecode("a,b\n1")
}
output "j" {
  value = timeadd("x", "1h")
}
output "k" {
  value = parseint("x", 10)
}
output "l" {
  value = format("%d", "x")
}
output "m" {
  value = zipmap(["a"], [])
}
output "n" {
  value = merge("a", {})
}
output "o" {
  value = chunklist([], -1)
}
output "p" {
  value = formatdate("nope", "2020-01-01T00:00:00Z")
}
output "q" {
  value = tonumber("x")
}
output "r" {
  value = tobool("x")
}
output "s" {
  value = one([1, 2])
}
output "t" {
  value = coalesce()
}
output "u" {
  value = sum([])
}
output "v" {
  value = upper(null)
}
output "w" {
  value = range(1, 2, 0)
}
output "x" {
  value = setproduct()
}
output "y" {
  value = cidrhost("x", 1)
}
output "z" {
  value = index(["a"], "b")
}
#= plan
output "a" {
  value = upper("a", "b")
}
output "b" {
  value = upper()
}
output "c" {
  value = upper([])
}
output "d" {
  value = join(",", 1)
}
output "e" {
  value = length(1)
}
output "f" {
  value = concat("a")
}
output "g" {
  value = keys([])
}
output "h" {
  value = max("a")
}
output "i" {
  value = min()
}
output "j" {
  value = replace("a", "/(/", "b")
}
output "k" {
  value = regex("(", "b")
}
output "l" {
  value = toset(1)
}
output "m" {
  value = tomap([])
}
output "n" {
  value = tolist({})
}
output "o" {
  value = coalescelist([], [])
}
output "p" {
  value = filemd5("nosuch")
}
output "q" {
  value = fileset("", null)
}
output "r" {
  value = rsadecrypt("x", "y")
}
output "t" {
  value = uuidv5("nope", "x")
}
output "u" {
  value = urlencode(null)
}
output "v" {
  value = jsonencode()
}
output "w" {
  value = textdecodebase64("x", "nope")
}
output "x" {
  value = textencodebase64("x", "nope")
}
output "y" {
  value = base64gunzip("aaa")
}
output "z" {
  value = slice([1], 1, 0)
}
#= plan
output "a" {
  value = substr("abc", 1.5, 2)
}
output "b" {
  value = tomap({ a = 1, b = [] })
}
output "c" {
  value = tolist([1, []])
}
output "e" {
  value = nonsensitive(1, 2)
}
output "f" {
  value = try()
}
output "g" {
  value = try(tonumber("x"), tonumber("y"))
}
output "h" {
  value = can()
}
output "i" {
  value = values("x")
}
output "j" {
  value = contains("x", 1)
}
output "k" {
  value = flatten("x")
}
output "l" {
  value = matchkeys(["a"], ["b", "c"], ["d"])
}
output "m" {
  value = transpose({ a = "b" })
}
output "n" {
  value = timecmp("x", "y")
}
output "o" {
  value = cidrnetmask("fe80::/10")
}
output "p" {
  value = cidrsubnets("10.0.0.0/8", 1, 40)
}
output "q" {
  value = strcontains("a")
}
output "r" {
  value = startswith("a", [])
}
output "s" {
  value = templatestring("x", {})
}
output "t" {
  value = provider::test::nosuch("x")
}
output "u" {
  value = provider::nope::f("x")
}
output "v" {
  value = core::nope()
}
output "w" {
  value = jsondecode("{]")
}
output "x" {
  value = jsondecode("nope")
}
output "y" {
  value = jsondecode("1 2")
}
output "z" {
  value = jsondecode("{\"a\":}")
}
#= plan
output "a" {
  value = 1 + "x"
}
output "c" {
  value = null + 1
}
output "d" {
  value = "x" ? 1 : 2
}
output "e" {
  value = true ? {} : 1
}
output "f" {
  value = [1][2]
}
output "g" {
  value = { a = 1 }["b"]
}
output "h" {
  value = [1][1.5]
}
output "i" {
  value = [1][null]
}
output "j" {
  value = [1][-1]
}
output "k" {
  value = [1]["x"]
}
output "l" {
  value = "x"[0]
}
output "m" {
  value = "x".y
}
output "n" {
  value = [1].y
}
output "o" {
  value = var.s.y
}
output "p" {
  value = "a${[]}"
}
output "q" {
  value = "a${var.s}"
}
output "r" {
  value = [for x in 1 : x]
}
output "s" {
  value = { for x in ["a", "a"] : x => 1 }
}
output "t" {
  value = { (var.s) = 1 }
}
output "u" {
  value = [for x in ["a"] : x if "y"]
}
output "v" {
  value = { for x in [null] : x => 1 }
}
output "w" {
  value = !"x"
}
output "x" {
  value = 0 / 0
}
output "y" {
  value = toset([1])[0]
}
output "z" {
  value = [for x in null : x]
}
#= plan
output "a" {
  value = "%{if "x"}a%{endif}"
}
output "b" {
  value = "%{for x in 1}a%{endfor}"
}
output "c" {
  value = [1, 2][*].a
}
output "d" {
  value = null.a
}
output "e" {
  value = tomap({ a = 1 }).b
}
output "f" {
  value = { a = 1 }.b
}
output "g" {
  value = [{ a = 1 }][0].b
}
output "h" {
  value = [1] == 1 && "x"
}
output "i" {
  value = 1 < "x"
}
output "j" {
  value = -"x"
}
output "k" {
  value = var.s[0]
}
output "l" {
  value = { a = 1 }[["a"]]
}
output "m" {
  value = tolist(["a"])[1]
}
output "n" {
  value = tomap({ a = 1 })[1]
}
output "o" {
  value = 5 % "x"
}
output "p" {
  value = null ? 1 : 2
}
output "q" {
  value = true ? [1] : { a = 1 }
}
output "r" {
  value = true ? { a = 1 } : { a = [] }
}
output "s" {
  value = merge(null...)
}
output "t" {
  value = max([1, "x"]...)
}
output "u" {
  value = max("x"...)
}
output "v" {
  value = [for k, v in toset(["a"]) : nope]
}
#= plan
output "a" {
  value = var.sec
}
output "b" {
  value = var.eph
}
output "c" {
  value = terraform_data.new[0].id
}
output "d" {
  value = terraform_data.new.nope
}
resource "terraform_data" "many" {
  count = 2
}
output "e" {
  value = terraform_data.many.id
}
output "f" {
  value = terraform_data.many["a"].id
}
output "g" {
  value = terraform_data.many[5].id
}
resource "terraform_data" "keyed" {
  for_each = toset(["a"])
}
output "h" {
  value = terraform_data.keyed.id
}
output "i" {
  value = terraform_data.keyed[0].id
}
output "j" {
  value = terraform_data.keyed["b"].id
}
#= plan
output "a" {
  value = count.index
}
output "b" {
  value = each.key
}
output "c" {
  value = self.id
}
output "d" {
  value = path.nope
}
output "e" {
  value = terraform.nope
}
output "f" {
  value = var.nope
}
output "g" {
  value = local.nope
}
output "h" {
  value = module.nope
}
output "i" {
  value = nope_thing.x
}
output "j" {
  value = data.test_data.nope.id
}
output "k" {
  value = each.nope
}
output "l" {
  value = count.nope
}
output "m" {
  value = nope
}
output "o" {
  value = terraform.env
}
output "p" {
  value = resource.terraform_data
}
output "q" {
  value = ephemeral.nope.x
}
output "r" {
  value = data.x
}
output "u" {
  value = terraform_data
}
output "v" {
  value = module.x.y
}
output "w" {
  value = template.x
}
output "x" {
  value = lazy.x
}
output "y" {
  value = arg.x
}
#= plan
resource "terraform_data" "a" {
  input = terraform_data.a.id
}
resource "terraform_data" "b" {
  input = terraform_data.c.id
}
resource "terraform_data" "c" {
  input = terraform_data.b.id
}
#= plan
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = false
      error_message = "No."
    }
    precondition {
      condition     = "x"
      error_message = "No."
    }
    precondition {
      condition     = null
      error_message = "No."
    }
    precondition {
      condition     = 1 == 2
      error_message = var.sec
    }
    precondition {
      condition     = 1 == 2
      error_message = null
    }
    precondition {
      condition     = 1 == 2
      error_message = []
    }
    precondition {
      condition     = 1 == 2
      error_message = var.eph
    }
  }
}
check "c" {
  assert {
    condition     = terraform_data.new.input == 2
    error_message = "Checked."
  }
  assert {
    condition     = terraform_data.new.input == "x" + 1
    error_message = "Checked."
  }
}
output "o" {
  value = 1
  precondition {
    condition     = terraform_data.new.input == 3
    error_message = "Output."
  }
}
variable "v" {
  default = 1
  validation {
    condition     = var.v > 2
    error_message = "Variable."
  }
  validation {
    condition     = var.v + "x"
    error_message = "Variable."
  }
}
#= validate
resource "test_thing" "none" {
}
resource "test_thing" "more" {
  name     = "x"
  unwanted = 1
  surplus {
  }
}
resource "test_thing" "blocks" {
  name = {}
  single {
  }
  single {
  }
}
output "o" {
  value = upper(null)
}

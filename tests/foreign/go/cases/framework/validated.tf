#= apply
resource "framework_validated" "a" {
  name  = "a"
  one   = "x"
  limit = 5
  part {
    key = "k"
  }
}
resource "framework_validated" "b" {
  name  = "b"
  other = framework_validated.a.id
  part {
    key   = framework_validated.a.zone
    label = "given"
  }
  part {
  }
}
data "framework_validated" "d" {
  one = framework_validated.a.kept
}
ephemeral "framework_validated" "e" {
  one = framework_validated.a.kept
}
#= plan
#= world a-1 'zone=null' 'kept=null' 'size=null' 'words=null'
#= apply -refresh-only
#= apply
resource "framework_validated" "a" {
  name  = "a"
  one   = "y"
  limit = 5
  part {
    key = "k"
  }
  part {
    key = "new"
  }
}
resource "framework_validated" "b" {
  name  = "b"
  other = "changed"
  part {
    key = "first"
  }
}
#= world b-1 'part=[{"key":"first","label":null,"note":null}]'
#= plan
resource "framework_validated" "a" {
  name = "a"
}
resource "framework_validated" "b" {
  name = "b"
  part {
    key = "other"
  }
}
#= run validate -json
resource "framework_validated" "both" {
  name  = "a"
  one   = "x"
  other = "y"
  limit = 11
}
resource "framework_validated" "negative" {
  name  = "a"
  limit = -1
  part {
  }
  part {
    key = "second"
  }
}
resource "framework_validated" "many" {
  name = "a"
  part {
  }
  part {
  }
  dynamic "part" {
    for_each = [1]
    content {
    }
  }
}
resource "framework_validated" "unknown" {
  name  = "a"
  one   = "x"
  other = framework_validated.both.id
}
data "framework_validated" "d" {
  one   = "bitter"
  other = "y"
}
ephemeral "framework_validated" "e" {
  one   = "x"
  other = "bitter"
}
provider "framework" {
  region = "bitter"
}
#= run validate -json
provider "framework" {
  region = "open"
  token  = "t"
}
#= plan
provider "framework" {
  region = "open"
  token  = "t"
}
resource "framework_validated" "a" {
  name = "a"
}
#= apply
resource "framework_validated" "a" {
  name  = "a"
  one   = framework_validated.c.kept
  other = framework_validated.c.zone
}
resource "framework_validated" "c" {
  name = "c"
}
#= apply
variable "v" {
  default = "bitter"
}
provider "framework" {
  region = var.v
}
resource "framework_validated" "a" {
  name = "a"
}

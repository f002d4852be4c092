#= plan
provider "legacy" {
  region  = "east"
  token   = "t"
  url     = "https://example.com"
  endpoint {
    service = "b"
    ports   = [2, 1]
  }
  endpoint {
    service = "a"
  }
  features {}
}
resource "legacy_basic" "a" {
  name = "a"
}
#= plan
provider "legacy" {
  url = "nothing"
  endpoint {
    service = "a"
  }
  endpoint {
    service = "b"
  }
  endpoint {
    service = "c"
  }
}
resource "legacy_basic" "a" {
  name = "a"
}
#= plan
provider "legacy" {
  say    = "before"
  refuse = "everything"
}
resource "legacy_basic" "a" {
  name = "a"
}
#= apply
provider "legacy" {
  region = legacy_basic.a.id
  alias  = "late"
}
resource "legacy_basic" "a" {
  name = "a"
}
resource "legacy_basic" "b" {
  provider = legacy.late
  name     = "b"
}
data "legacy_echo" "late" {
  provider = legacy.late
}
#= env TEST_REGION=west
#= plan
#= apply -destroy

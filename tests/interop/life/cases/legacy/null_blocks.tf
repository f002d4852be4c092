#= apply
resource "test_legacy" "a" {
  name   = "a"
  breaks = "null"
}
resource "test_legacy" "nested" {
  name   = "nested"
  breaks = "null"
  part {
    a = "without inner blocks"
  }
  part {
    inner {
      a = "x"
    }
  }
}

#= plan -refresh=false

#= plan -refresh-only

#= apply

#= apply
resource "test_legacy" "a" {
  name   = "a"
  note   = "updated"
  breaks = "null"
}
resource "test_legacy" "nested" {
  name   = "nested"
  breaks = "null"
  part {
    a = "without inner blocks"
  }
}

#= run refresh -no-color

#= apply -destroy

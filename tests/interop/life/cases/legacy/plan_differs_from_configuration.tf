#= apply
resource "test_legacy" "a" {
  name   = "a"
  note   = "lower"
  breaks = "plan"
}

#= apply

#= apply
resource "test_legacy" "a" {
  name   = "a"
  note   = "other"
  breaks = "plan"
  lifecycle {
    ignore_changes = [note]
  }
}

#= apply
resource "test_legacy" "a" {
  name   = "a"
  note   = "another"
  size   = 1
  breaks = "plan"
  part {
    a = "x"
  }
  lifecycle {
    ignore_changes = all
  }
}

#= apply -replace=test_legacy.a

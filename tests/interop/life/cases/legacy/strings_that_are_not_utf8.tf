#= apply
resource "test_legacy" "a" {
  name   = "a"
  note   = "fine"
  breaks = "bytes"
}

#= apply
#~ .apply.said: Formwork warns of the replaced byte
resource "test_legacy" "a" {
  name   = "a"
  note   = "raw!"
  breaks = "bytes"
}

#= plan

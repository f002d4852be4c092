# An object that is replaced first ends with its own private bytes, and with the refreshed values if its
# end comes in a later run.
#= apply
resource "legacy_basic" "a" {
  name  = "a"
  text  = "x"
  fixed = 1
  lifecycle {
    create_before_destroy = true
  }
}
#= fail delete a
#= apply
resource "legacy_basic" "a" {
  name  = "a"
  text  = "y"
  fixed = 2
  lifecycle {
    create_before_destroy = true
  }
}
#= fail none
#= world a-1 'text=other'
#= apply

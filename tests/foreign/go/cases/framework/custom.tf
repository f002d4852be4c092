#= apply
resource "framework_custom" "a" {
  name  = "a"
  label = "Label"
  more  = ["A", "b"]
}
#= world a-1 'label=LABEL' 'more=["a","B"]' 'made=Made'
#= plan
#= apply
resource "framework_custom" "a" {
  name  = "a"
  label = "label"
  more  = ["a", "c"]
  made  = "MADE"
}
#= world a-1 'label=other'
#= plan
#= apply

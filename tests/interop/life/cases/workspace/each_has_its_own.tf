#= apply
resource "test_thing" "a" {
  name  = "a"
  value = terraform.workspace
}
output "w" {
  value = terraform.workspace
}
#= run workspace new -no-color two
#= apply
#= plan
#= run workspace select -no-color default
#= plan
#= run workspace delete -no-color two
#= run workspace new -no-color two
#~ .run.said: Terraform reports this error without the word
#= run workspace select -no-color -or-create three
#= plan
#= run workspace delete -no-color three
#~ .run.said: Terraform reports this error without the word
#= run workspace select -no-color two
#= apply -destroy
#= run workspace select -no-color default
#= run workspace delete -no-color two
#= run workspace list -no-color
#= run workspace show -no-color
#= env TF_WORKSPACE=four
#= plan
#= run workspace select -no-color default
#~ .run.said: Terraform reports this error without the word

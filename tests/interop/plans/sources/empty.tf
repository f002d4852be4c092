# Nothing.
#= validate
module "m" {
  source = ""
}

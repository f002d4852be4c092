# A path without a dot in front.
#= validate
module "m" {
  source = "modules/x"
}

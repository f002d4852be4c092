# A name alone is no source.
#= validate
module "m" {
  source = "x"
}

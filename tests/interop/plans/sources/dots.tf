# Two dots alone.
#= validate
module "m" {
  source = ".."
}

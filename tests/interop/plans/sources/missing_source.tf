# A call without a source.
#= validate
module "m" {
}

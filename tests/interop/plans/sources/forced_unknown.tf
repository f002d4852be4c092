# An unknown means of fetching, for no URL.
#= validate
module "m" {
  source = "foo::bar"
}

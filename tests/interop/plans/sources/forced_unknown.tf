# A means of fetching that nobody knows, for no URL.
#= validate
module "m" {
  source = "foo::bar"
}

# A version for what looks like a registry.
#= validate
module "m" {
  source = "github.com/a/b/c"
  version = "1.0.0"
}

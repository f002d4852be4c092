# A version that is none.
#= validate
module "m" {
  source = "registry.example.com/a/b/c"
  version = "latest"
}

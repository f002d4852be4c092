# A namespace with a dash at its end.
#= validate
module "m" {
  source = "a-/b/c"
  version = "1.0.0"
}

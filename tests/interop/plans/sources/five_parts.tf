# Too many parts.
#= validate
module "m" {
  source = "a/b/c/d/e"
}

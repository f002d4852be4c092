# A host without a dot.
#= validate
module "m" {
  source = "localhost/a/b/c"
}

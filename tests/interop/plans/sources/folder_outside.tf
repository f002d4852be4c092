# A folder outside of the package.
#= validate
module "m" {
  source = "github.com/a/b//../c"
}

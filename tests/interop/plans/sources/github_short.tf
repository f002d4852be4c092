# A repository without a name.
#= validate
module "m" {
  source = "github.com/a"
}

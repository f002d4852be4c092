# for expressions, splats, and indices.
#= apply
locals {
  list = ["a", "b", "c"]
  map  = { x = 1, y = 2 }
  deep = [{ n = 1, l = [1, 2] }, { n = 2, l = [3] }]
}
output "o" {
  value = {
    list   = [for one in local.list : upper(one)]
    index  = [for index, one in local.list : "${index}${one}"]
    object = { for key, value in local.map : value => key }
    group  = { for one in ["aa", "ab", "b"] : substr(one, 0, 1) => one... }
    filter = [for one in local.list : one if one != "b"]
    splat  = local.deep[*].n
    flat   = local.deep[*].l[0]
    last   = local.list[length(local.list) - 1]
    key    = local.map["y"]
    legacy = local.deep.*.n
    scalar = "x"[*]
    null   = null[*]
    nested = [for one in local.deep : [for n in one.l : n * 10]]
  }
}

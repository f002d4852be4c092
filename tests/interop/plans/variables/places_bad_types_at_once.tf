#= validate
variable "object" {
  type = object({
    a = optional(number, "x")
    b = optional(list(string), "y")
    c = optional()
    d = nope
    e = list()
  })
}
variable "tuple" {
  type = tuple([nope, map(strin), string()])
}

# A small team site: a file for each page, a list of tables at a party, and a password.
# All files are written to ./site.

terraform {
  required_providers {
    random = { source = "hashicorp/random" }
    local  = { source = "hashicorp/local" }
    time   = { source = "hashicorp/time" }
    null   = { source = "hashicorp/null" }
  }
}

variable "team" {
  description = "Name of the team."
  type        = string
  default     = "the builders"

  validation {
    condition     = length(trimspace(var.team)) > 0
    error_message = "A team needs a name."
  }
}

variable "pages" {
  description = "Pages of the site: a title for each name."
  type        = map(string)
  default = {
    index = "Welcome"
    about = "Who we are"
    party = "The next party"
  }
}

variable "tables" {
  description = "Number of tables at the party."
  type        = number
  default     = 3
}

locals {
  directory = "${path.module}/site"
  links  = join("\n", [for name, title in var.pages : "    <li><a href=\"${name}.html\">${title}</a></li>"])
}

# Time of the first apply. Later applies keep it.
resource "time_static" "made" {}

resource "random_pet" "table" {
  count  = var.tables
  length = 2
}

resource "random_shuffle" "seating" {
  input = random_pet.table[*].id
}

resource "random_password" "door" {
  length  = 20
  special = false
}

# Every page is rendered from this template, so a change of it changes every page.
data "local_file" "template" {
  filename = "${path.module}/page.html.tftpl"
}

resource "local_file" "page" {
  for_each = var.pages

  filename = "${local.directory}/${each.key}.html"
  content = templatestring(data.local_file.template.content, {
    title  = each.value
    team   = var.team
    links  = local.links
    made   = formatdate("D MMMM YYYY", time_static.made.rfc3339)
    tables = each.key == "party" ? random_shuffle.seating.result : []
  })
}

resource "local_sensitive_file" "door" {
  filename = "${local.directory}/door.txt"
  content  = "The word at the door is ${random_password.door.result}\n"
}

# Replaced when a page changes.
resource "null_resource" "announcement" {
  triggers = {
    for name, page in local_file.page : name => page.content_md5
  }
}

output "pages" {
  description = "Paths of the pages."
  value       = { for name, page in local_file.page : name => page.filename }
}

output "tables" {
  description = "Order of the tables."
  value       = random_shuffle.seating.result
}

output "door" {
  description = "Password for the door: `formwork output -raw door`."
  value       = random_password.door.result
  sensitive   = true
}

#= env TEST_VERSION=2
#= file terraform.tfstate
{
  "version": 3,
  "terraform_version": "0.11.14",
  "serial": 7,
  "lineage": "9a2c7e1e-1111-4444-8888-0123456789ab",
  "modules": [
    {
      "path": ["root"],
      "outputs": {
        "size": {"sensitive": false, "type": "string", "value": "5"},
        "sizes": {"sensitive": true, "type": "list", "value": ["5", "6"]},
        "both": {"sensitive": false, "type": "map", "value": {"a": [1], "b": [2]}}
      },
      "resources": {
        "legacy_versioned.a": {
          "type": "legacy_versioned",
          "depends_on": ["legacy_versioned.b"],
          "primary": {
            "id": "a",
            "attributes": {"id": "a", "name": "a", "size": "5"},
            "meta": {
              "e2bfb730-ecaa-11e6-8f88-34363bc7c4c0": {"create": 120000000000},
              "schema_version": "1"
            },
            "tainted": false
          },
          "deposed": [],
          "provider": "provider.legacy"
        },
        "legacy_versioned.b.0": {
          "type": "legacy_versioned",
          "depends_on": [],
          "primary": {
            "id": "b0",
            "attributes": {"id": "b0", "name": "b"},
            "meta": {},
            "tainted": true
          },
          "deposed": [
            {"id": "b9", "attributes": {"name": "b", "size": "9"}, "meta": {}, "tainted": false}
          ],
          "provider": ""
        },
        "legacy_versioned.b.1": {
          "type": "legacy_versioned",
          "depends_on": [],
          "primary": {
            "id": "b1",
            "attributes": {"id": "b1", "name": "b", "size": ""},
            "meta": {"schema_version": 0},
            "tainted": false
          },
          "deposed": [],
          "provider": "legacy"
        }
      },
      "depends_on": []
    },
    {
      "path": ["root", "below"],
      "outputs": {"gone": {"sensitive": false, "type": "string", "value": "x"}},
      "resources": {
        "legacy_versioned.c": {
          "type": "legacy_versioned",
          "depends_on": [],
          "primary": {
            "id": "c",
            "attributes": {"id": "c", "name": "c", "part.#": "2", "part.0.size": "1", "part.1.size": "2"},
            "meta": {"schema_version": "2"},
            "tainted": false
          },
          "deposed": [],
          "provider": "provider.legacy"
        }
      },
      "depends_on": []
    }
  ]
}
#= run state replace-provider -auto-approve registry.terraform.io/-/legacy foreign/legacy
#= text state list
#= text state show module.below.legacy_versioned.c
#= run state mv module.below.legacy_versioned.c legacy_versioned.d
#= plan
resource "legacy_versioned" "a" {
  name = "a"
  part {
    size = 5
  }
}
resource "legacy_versioned" "b" {
  count = 2
  name  = "b"
}
resource "legacy_versioned" "d" {
  name = "d"
  part {
    size = 1
  }
  part {
    size = 2
  }
}
output "size" {
  value = legacy_versioned.d.part[1].size
}
#= apply -refresh=false -target=legacy_versioned.d
#~ .plan.view: both refuse to show an object of another schema version, in their own words
#= apply
#= plan
#= apply -destroy

#= world 'id of a'
#= plan -generate-config-out=generated.tf
import {
  to = test_thing.a
  id = "id of a"
}
#= plan -generate-config-out=generated.tf
#= apply
#= plan

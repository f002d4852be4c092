#= apply
resource "legacy_deep" "a" {
  name = "a"
  root {
    title = "one"
    middle {
      title = "m"
      leaf {
        key    = "k"
        values = ["2", "1"]
      }
      leaf {
        key = "l"
      }
      only {
        on = true
      }
    }
    middle {}
  }
  root {
    title = "two"
  }
  needed {}
}
#= plan
#= apply
resource "legacy_deep" "b" {
  name = "b"
  needed {
    on = true
  }
}
resource "legacy_deep" "a" {
  name = "a"
  root {
    title = "one"
    middle {
      title = "m"
      leaf {
        key    = "k"
        values = ["2", legacy_deep.b.id]
      }
    }
  }
  needed {
    peers = [legacy_deep.b.id]
  }
  needed {}
}
#= plan
#= apply -destroy

"""A provider made with the package `tf`: things kept in a JSON file, and a look at all of them.

It is here to be driven by the tests next to it; nothing of it is an example of how to write one.
"""

import json
import sys
from pathlib import Path

from tf.iface import DataSource, Resource
from tf.provider import Provider
from tf.runner import run_provider
from tf.schema import Attribute, Schema
from tf.types import Number, String


class Store:
    """The things that exist, by id."""

    def __init__(self):
        self.path = None

    def load(self):
        return json.loads(self.path.read_text()) if self.path.exists() else {}

    def put(self, thing):
        things = self.load()
        things[thing["id"]] = thing
        self.path.write_text(json.dumps(things, sort_keys=True))

    def remove(self, id):
        things = self.load()
        del things[id]
        self.path.write_text(json.dumps(things, sort_keys=True))


class Thing(Resource):
    """`python_thing`: another name makes it another thing, another size does not."""

    def __init__(self, provider):
        self.store = provider.store

    @classmethod
    def get_name(cls):
        return "thing"

    @classmethod
    def get_schema(cls):
        return Schema(
            attributes=[
                Attribute("name", String(), required=True, requires_replace=True),
                Attribute("size", Number(), required=True),
                Attribute("id", String(), computed=True),
            ]
        )

    def create(self, ctx, planned):
        thing = {**planned, "id": f"id-of-{planned['name']}"}
        self.store.put(thing)
        return thing

    def read(self, ctx, current):
        return self.store.load().get(current["id"])

    def update(self, ctx, current, planned):
        self.store.put(planned)
        return planned

    def delete(self, ctx, current):
        self.store.remove(current["id"])


class Total(DataSource):
    """`python_total`: what all things come to."""

    def __init__(self, provider):
        self.store = provider.store

    @classmethod
    def get_name(cls):
        return "total"

    @classmethod
    def get_schema(cls):
        return Schema(
            attributes=[
                Attribute("unit", String(), required=True),
                Attribute("size", Number(), computed=True),
                Attribute("text", String(), computed=True),
            ]
        )

    def read(self, ctx, config):
        size = sum(thing["size"] for thing in self.store.load().values())
        return {"unit": config["unit"], "size": size, "text": f"{size} {config['unit']}"}


class PythonProvider(Provider):
    def __init__(self):
        self.store = Store()

    def get_model_prefix(self):
        return "python_"

    def full_name(self):
        return "example.com/foreign/python"

    def get_provider_schema(self, diags):
        return Schema(attributes=[Attribute("store", String(), required=True)])

    def validate_config(self, diags, config):
        if config["store"] == "":
            diags.add_error("No store", "The name of the file is empty.", path=["store"])

    def configure_provider(self, diags, config):
        self.store.path = Path(config["store"])

    def get_data_sources(self):
        return [Total]

    def get_resources(self):
        return [Thing]


if __name__ == "__main__":
    run_provider(PythonProvider(), sys.argv)

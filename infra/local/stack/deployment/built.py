"""The build folder: archives of functions and layers, and templates that name them.

SAM would archive each folder again at every deployment. The templates are JSON: LocalStack reads no
other definitions of state machines, and SAM and LocalStack read templates in a hundredth of the
time.
"""

import shutil
from pathlib import Path
from typing import Any, Final

import yaml

from stack.deployment import templates
from stack.deployment.sources import Sources
from stack.errors import InstallError
from stack.files import write_json

LAYERS: Final = "layers"
LAYER_TYPE: Final = "AWS::Serverless::LayerVersion"
_FUNCTIONS: Final = "functions.zip"
_COMMON: Final = "CommonLayer"
_FUNCTION_TYPE: Final = "AWS::Serverless::Function"


def layers_template(sources: Sources) -> dict[str, Any]:
    """Return a template of the layers that need a build: all but the common one."""
    layers = {
        name: resource
        for name, resource in templates.load(sources.template)["Resources"].items()
        if resource["Type"] == LAYER_TYPE and name != _COMMON
    }
    return {"Transform": "AWS::Serverless-2016-10-31", "Resources": layers}


def archive_layers(folder: Path) -> None:
    """Archive each built layer beside its folder."""
    for layer in [each for each in (folder / LAYERS).iterdir() if each.is_dir()]:
        shutil.make_archive(str(layer), "zip", layer)


def write(sources: Sources, folder: Path) -> None:
    """Add code and templates to the archives of layers.

    Raises InstallError for a function whose code lies elsewhere.
    """
    (folder / _FUNCTIONS).write_bytes(sources.function_archive)
    (folder / _layer(_COMMON)).write_bytes(sources.common_archive)
    for file in sources.templates():
        template = _built(templates.load(file), sources, folder)
        write_json(folder / file.relative_to(sources.root), template)


def _built(template: dict[str, Any], sources: Sources, folder: Path) -> dict[str, Any]:
    """Return the template with what was built in the place of the sources."""
    shared = template.get("Globals", {}).get("Function", {}).pop("CodeUri", None)
    for name, resource in template["Resources"].items():
        properties = resource.setdefault("Properties", {})
        if resource["Type"] == _FUNCTION_TYPE:
            code = properties.get("CodeUri", shared)
            if code is None or sources.root / code != sources.functions:
                raise InstallError(f"the code of {name} isn't in functions/ but in {code}")
            properties["CodeUri"] = _FUNCTIONS
        elif resource["Type"] == LAYER_TYPE:
            properties["ContentUri"] = _layer(name)
        elif definition := properties.get("DefinitionUri"):
            states = yaml.safe_load((sources.root / definition).read_text())
            properties["DefinitionUri"] = Path(definition).with_suffix(".json").name
            write_json(folder / properties["DefinitionUri"], states)
    return template


def _layer(name: str) -> str:
    return f"{LAYERS}/{name}.zip"

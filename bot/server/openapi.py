"""The OpenAPI document of the API, made from its routes and from the types of their answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from bot import __version__

BASE = "/api/v1"
DOCUMENT = f"{BASE}/openapi.json"


class ApiError(msgspec.Struct, frozen=True):
    """Why there is no answer."""

    error: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """Something that a query may hold; `values` are the only ones, where there are any."""

    name: str
    description: str
    type: str = "string"
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """What a route gives: its path as the server takes it, in one sentence, and the type of its answer."""

    path: str
    summary: str
    answer: type
    parameters: tuple[Parameter, ...] = ()

    @property
    def template(self) -> str:
        """The path as OpenAPI writes it."""
        return re.sub(r":\w+}", "}", self.path)


def openapi(operations: Sequence[Operation]) -> dict[str, Any]:
    """The document: OpenAPI 3.1, with a schema for each answer."""
    types = list(dict.fromkeys(one.answer for one in operations))
    _, schemas = msgspec.json.schema_components([*types, ApiError], ref_template="#/components/schemas/{name}")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "leaderboard-bot",
            "version": __version__,
            "description": "The state of a service, for programs. Every answer has an ETag; lists are paged by `next`.",
        },
        "paths": {one.template: {"get": _described(one)} for one in operations},
        "components": {"schemas": schemas},
    }


def _described(one: Operation) -> dict[str, Any]:
    named = re.findall(r"{(\w+)}", one.template)
    inside = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in named]
    answers = {
        "200": _answer("The answer.", one.answer),
        "304": {"description": "The client's copy is current."},
        "400": _answer("A parameter is wrong.", ApiError),
        "404": _answer("Not found.", ApiError),
        "503": _answer("The state or a declaration cannot be read now.", ApiError),
    }
    return {
        "operationId": "_".join(re.findall(r"\w+", one.template.removeprefix(BASE))),
        "summary": one.summary,
        "parameters": [*inside, *map(_in_query, one.parameters)],
        "responses": answers,
    }


def _in_query(one: Parameter) -> dict[str, Any]:
    schema = {"type": one.type, **({"enum": list(one.values)} if one.values else {})}
    return {"name": one.name, "in": "query", "required": False, "description": one.description, "schema": schema}


def _answer(description: str, of: type) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{of.__name__}"}
    return {"description": description, "content": {"application/json": {"schema": schema}}}

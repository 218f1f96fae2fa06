"""The nodes of a file: who is whose child, what they are called, where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bunraku.contracts import Vector, input_error
from bunraku.io.prims import choose_mesh

from .document import Document
from .fields import Entry

_LONGEST_NAMES = 1 << 24  # characters of all meshes' paths together


Placement = dict[str, Vector]
"""where a node stands below its parent: those the file gives of translation (3,), rotation (4,) as x, y, z, w,
scale (3,), or a matrix (16,) by columns instead"""

_PARTS = {"translation": 3, "rotation": 4, "scale": 3, "matrix": 16}


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes that form trees: every node has one parent at most, and no node is its own ancestor."""

    document: Document
    parents: tuple[int, ...]
    """parent of each node, -1 for roots"""

    def node(self, index: int) -> Entry:
        return self.document.root.at("nodes", index)

    def chain(self, index: int) -> list[int]:
        """A node and its ancestors, the root first."""
        out = []
        while index >= 0:
            out.append(index)
            index = self.parents[index]
        return out[::-1]

    def lineage(self, nodes: Iterable[int]) -> list[int]:
        """Nodes and all their ancestors, parents first, each once."""
        seen: dict[int, None] = {}
        for node in nodes:
            fresh = []
            while node >= 0 and node not in seen:
                fresh.append(node)
                node = self.parents[node]
            seen.update(dict.fromkeys(reversed(fresh)))
        return list(seen)

    def placement(self, index: int) -> Placement:
        """Where the file puts a node below its parent."""
        node = self.node(index)
        return {part: node.numbers(part, count) for part, count in _PARTS.items() if node.has(part)}


def read_tree(document: Document) -> Tree:
    """The nodes of a document; refused where one has two parents or is its own ancestor."""
    count = document.root.count("nodes")
    parents = [-1] * count
    for k in range(count):
        node = document.root.at("nodes", k)
        for child in node.integers("children"):
            document.entry("nodes", child, node)
            if parents[child] >= 0 or child == k:
                node.refuse(f"the node's child nodes[{child}] has another parent already or is the node itself")
            parents[child] = k
    _check_no_cycle(document, parents)
    return Tree(document, tuple(parents))


def _check_no_cycle(document: Document, parents: Sequence[int]) -> None:
    """Refuse nodes from which no root is reached. Each node is walked once."""
    reaches_root = [False] * len(parents)
    for start in range(len(parents)):
        node, walked = start, []
        while node >= 0 and not reaches_root[node]:
            if len(walked) > len(parents):
                document.root.at("nodes", start).refuse("the node is its own ancestor, nodes form a circle")
            walked.append(node)
            node = parents[node]
        for one in walked:
            reaches_root[one] = True


def find_mesh(tree: Tree, path: Path, name: str | None) -> tuple[int, str]:
    """The node with a mesh that is meant, and its path: the only one, or the one at, under or ending in `name`."""
    meshes = mesh_paths(tree)
    if not meshes:
        raise input_error("holds no mesh", where=str(path), got=_contents(tree.document), remedy="export a mesh")
    chosen = choose_mesh(list(meshes), name, path)
    return meshes[chosen], chosen


def mesh_paths(tree: Tree) -> dict[str, int]:
    """Path → node of the meshes in the file's scene, or of all where the scene has none."""
    nodes = [k for k in range(len(tree.parents)) if tree.node(k).has("mesh")]
    shown = _shown_nodes(tree)
    nodes = [k for k in nodes if k in shown] or nodes
    names, out, total = _names(tree), {}, 0
    for k in nodes:
        chain = tree.chain(k)
        total += sum(len(names[one]) + 1 for one in chain)
        if total > _LONGEST_NAMES:
            tree.document.root.refuse("the nodes have too many or too long names, or too many ancestors")
        out["/" + "/".join(names[one] for one in chain)] = k
    return out


def _shown_nodes(tree: Tree) -> set[int]:
    """The nodes of the scene that is shown; none where the file has no scenes."""
    root = tree.document.root
    if not root.count("scenes"):
        return set()
    scene = tree.document.entry("scenes", root.integer("scene", 0), root)
    shown = set(scene.integers("nodes"))
    for node in tree.lineage(range(len(tree.parents))):  # parents first
        if tree.parents[node] in shown:
            shown.add(node)
    return shown


def _names(tree: Tree) -> list[str]:
    """A name a node, unlike those of its siblings: its own, else its mesh's, else its number."""
    used: set[tuple[int, str]] = set()
    repeats: dict[tuple[int, str], int] = {}
    out = []
    for k, parent in enumerate(tree.parents):
        node = tree.node(k)
        name = node.text("name", "") or _mesh_name(tree.document, node) or f"node_{k}"
        base = name.replace("/", "_")[:200]
        name, key = base, (parent, base)
        while (parent, name) in used:
            repeats[key] = repeats.get(key, 1) + 1
            name = f"{base}_{repeats[key]}"
        used.add((parent, name))
        out.append(name)
    return out


def _mesh_name(document: Document, node: Entry) -> str:
    if not node.has("mesh"):
        return ""
    return document.entry("meshes", node.integer("mesh"), node).text("name", "")


def _contents(document: Document) -> str:
    """What a file without meshes has instead."""
    kinds = [f"{len(value)} {key}" for key, value in document.root.values.items() if isinstance(value, list) and value]
    return ", ".join(kinds[:12])[:200] or "an empty file"

# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panel's buttons do."""

import sys
from collections.abc import Callable
from pathlib import Path

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from . import job
from .bridge import Refusal, Run, installing, read_take, running
from .bridge.install import in_the_making
from .colouring import colour_by
from .example import add_figure
from .materials import change
from .preferences import environment, interpreter, preferences
from .request import make_request
from .result import show_take
from .scene import takes_folder


def directed(context: bpy.types.Context) -> bpy.types.Object | None:
    """The object whose settings are meant: the active one, or the guide of an active result."""
    thing = context.active_object
    if thing is None or thing.type != "MESH":
        return None
    return thing.bunraku_result.guide or thing


class _Refusing:
    """Says what cannot be done where Blender says such things."""

    def attempt(self, act: Callable[[], set[str]]) -> set[str]:
        """Do it, or report the sentence."""
        try:
            return act()
        except Refusal as refusal:
            job.refused(str(refusal))
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}


class BUNRAKU_OT_run(_Refusing, bpy.types.Operator):
    """Simulate the active object as its settings say; the take plays beside it"""

    bl_idname = "bunraku.run"
    bl_label = "Run"

    way: EnumProperty(
        name="Way",
        items=[
            ("FINAL", "Final", "As the settings say"),
            ("QUICK", "Quick", "Coarser steps and no contact, of the same settings"),
            ("REGIONS", "Regions", "Two frames, to look at the regions in colours"),
        ],
    )
    wait: BoolProperty(name="Wait", description="Until it is over: for scripts", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """For meshes."""
        return directed(context) is not None and job.current is None

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Capture, write, start."""
        return self.attempt(lambda: self._run(context))

    def _run(self, context: bpy.types.Context) -> set[str]:
        job.refuse_another()
        program = interpreter()
        request = make_request(context, directed(context), way=self.way)
        words = running(program, request.file, preferences().threads)
        job.start(Run(words, request.file.parent, request.desk), request.shot, request)
        if self.wait:
            ended = job.wait()
            if ended.how == "failed":
                raise Refusal("\n".join(ended.lines))
        return {"FINISHED"}


class BUNRAKU_OT_cancel(bpy.types.Operator):
    """Call the run off: nothing is left of it"""

    bl_idname = "bunraku.cancel"
    bl_label = "Cancel"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """While a run goes on."""
        return job.current is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Ask it to end."""
        job.cancel()
        return {"FINISHED"}


class BUNRAKU_OT_show_take(_Refusing, bpy.types.Operator):
    """Show this take"""

    bl_idname = "bunraku.show_take"
    bl_label = "Show take"
    bl_options = {"REGISTER", "UNDO"}

    take: StringProperty(name="Take", description="Such as coat/v003")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """For meshes."""
        return directed(context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Load it."""
        return self.attempt(lambda: self._show(context))

    def _show(self, context: bpy.types.Context) -> set[str]:
        show_take(context, directed(context), read_take(takes_folder(context.scene) / self.take))
        return {"FINISHED"}


class BUNRAKU_OT_open_take(_Refusing, bpy.types.Operator):
    """Show a take that was made elsewhere, on a farm say: choose its folder"""

    bl_idname = "bunraku.open_take"
    bl_label = "Open take"
    bl_options = {"REGISTER", "UNDO"}

    directory: StringProperty(subtype="DIR_PATH")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """For meshes."""
        return directed(context) is not None

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Ask for the folder."""
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Load it."""
        return self.attempt(lambda: self._show(context))

    def _show(self, context: bpy.types.Context) -> set[str]:
        show_take(context, directed(context), read_take(Path(bpy.path.abspath(self.directory)).resolve()))
        return {"FINISHED"}


class BUNRAKU_OT_colour(_Refusing, bpy.types.Operator):
    """Show the result, or in colours how hard the guide pulls at it or how far it is missed"""

    bl_idname = "bunraku.colour"
    bl_label = "Show in colours"
    bl_options = {"REGISTER", "UNDO"}

    of: EnumProperty(
        items=[
            ("material", "Result", ""),
            ("force", "Force", ""),
            ("residual", "Residual", ""),
            ("regions", "Regions", ""),
        ]
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Where there is a result."""
        return (guide := directed(context)) is not None and guide.bunraku.result is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Choose the attribute, and how the viewport colours."""
        return self.attempt(lambda: self._colour(context))

    def _colour(self, context: bpy.types.Context) -> set[str]:
        if self.of != "material":
            colour_by(directed(context).bunraku.result, self.of)
        if context.area is not None and context.area.type == "VIEW_3D":
            context.space_data.shading.color_type = "MATERIAL" if self.of == "material" else "VERTEX"
        return {"FINISHED"}


class BUNRAKU_OT_own_number(bpy.types.Operator):
    """Take another number than the material's, or the material's again"""

    bl_idname = "bunraku.own_number"
    bl_label = "Own number"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    of: EnumProperty(items=[(one, one.capitalize(), "") for one in ("material", "skin", "solid")])
    key: StringProperty()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """For meshes."""
        return directed(context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Change it."""
        change(getattr(directed(context).bunraku, self.of), self.key)
        return {"FINISHED"}


class BUNRAKU_OT_install(_Refusing, bpy.types.Operator):
    """Install bunraku into an environment of its own, from the folder or wheel above"""

    bl_idname = "bunraku.install"
    bl_label = "Install"

    wait: BoolProperty(options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Start it."""
        return self.attempt(self._install)

    def _install(self) -> set[str]:
        job.refuse_another()
        if not bpy.app.online_access:
            raise Refusal("Blender is offline; try: Preferences, System, Allow Online Access")
        source = Path(bpy.path.abspath(preferences().source)).resolve() if preferences().source else None
        if source is None or not source.exists():
            raise Refusal(f"where bunraku comes from is not said (got {source or 'nothing'}); try: its folder or wheel")
        try:
            environment().parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Refusal(f"{environment().parent}: cannot be made ({error.strerror or error})") from error
        words = installing(sys.executable, environment(), str(source))
        job.start(Run(words, environment().parent, scratch=in_the_making(environment())), "the installation")
        if self.wait and job.wait().how == "failed":
            raise Refusal("\n".join(job.last.lines))
        return {"FINISHED"}


class BUNRAKU_OT_figure(bpy.types.Operator):
    """A figure that walks, made by code, to try the instruments on"""

    bl_idname = "bunraku.add_figure"
    bl_label = "Walking Figure"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """In object mode."""
        return context.mode == "OBJECT"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add it."""
        add_figure(context)
        return {"FINISHED"}


def _in_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.operator("bunraku.add_figure", icon="OUTLINER_OB_ARMATURE")


class BUNRAKU_OT_tell(bpy.types.Operator):
    """What a run says at its end"""

    bl_idname = "bunraku.tell"
    bl_label = "bunraku"
    bl_options = {"INTERNAL"}

    level: StringProperty(default="INFO")
    text: StringProperty()

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Say it."""
        self.report({self.level}, self.text)
        return {"FINISHED"}


_CLASSES = (
    BUNRAKU_OT_run, BUNRAKU_OT_cancel, BUNRAKU_OT_show_take, BUNRAKU_OT_open_take, BUNRAKU_OT_colour,
    BUNRAKU_OT_own_number, BUNRAKU_OT_install, BUNRAKU_OT_figure, BUNRAKU_OT_tell,
)  # fmt: skip


def register() -> None:
    """The operators, and one in Add, Mesh."""
    for one in _CLASSES:
        bpy.utils.register_class(one)
    bpy.types.VIEW3D_MT_mesh_add.append(_in_menu)


def unregister() -> None:
    """What `register` did."""
    bpy.types.VIEW3D_MT_mesh_add.remove(_in_menu)
    for one in reversed(_CLASSES):
        bpy.utils.unregister_class(one)

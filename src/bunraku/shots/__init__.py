"""Shot file → validated spec → job → frames, take folder, report. The only room where strings become classes."""

from typing import TYPE_CHECKING

from bunraku.opening import on_demand

if TYPE_CHECKING:
    from .axes import AXES as AXES
    from .axes import AxesSettings as AxesSettings
    from .axes import axes_of as axes_of
    from .axes import write_axes as write_axes
    from .body_demos import BODY_DEMOS as BODY_DEMOS
    from .demos import DEMOS as DEMOS
    from .demos import check_demo as check_demo
    from .demos import demo as demo
    from .demos import demo_files as demo_files
    from .demos import demo_titles as demo_titles
    from .demos import write_demo as write_demo
    from .demos import write_demo_stages as write_demo_stages
    from .edited import EditedShot as EditedShot
    from .edited import Superseded as Superseded
    from .events import Event as Event
    from .events import Finished as Finished
    from .events import FrameDone as FrameDone
    from .events import Noticed as Noticed
    from .events import PictureDone as PictureDone
    from .events import Preparing as Preparing
    from .events import Remarked as Remarked
    from .events import Started as Started
    from .figures import FIGURES as FIGURES
    from .figures import Figure as Figure
    from .figures import figure as figure
    from .figures import study_sheet as study_sheet
    from .figures import write_study as write_study
    from .folder import check_free as check_free
    from .folder import check_makeable as check_makeable
    from .folder import make_folder as make_folder
    from .kept import frames_kept as frames_kept
    from .knob_sheet import Knob as Knob
    from .labels import checked_labels as checked_labels
    from .lazy import ShotFrame as ShotFrame
    from .lazy import frames as frames
    from .looks import BAG_LOOKS as BAG_LOOKS
    from .looks import WALKER_LOOKS as WALKER_LOOKS
    from .looks import Demo as Demo
    from .outputs import Content as Content
    from .outputs import contents as contents
    from .overlays import OverlayKind as OverlayKind
    from .overlays import Overlays as Overlays
    from .overlays import several_threads as several_threads
    from .painting_edits import painted_changes as painted_changes
    from .plan_demos import PLAN_DEMOS as PLAN_DEMOS
    from .puppet_demo import STAGE_DEMOS as STAGE_DEMOS
    from .region_sheet import RegionSheet as RegionSheet
    from .rehearsal import dry_run as dry_run
    from .report import Report as Report
    from .report import Sentence as Sentence
    from .report import TakeOutcome as TakeOutcome
    from .reviewed import ReviewedTake as ReviewedTake
    from .reviewed import curve_titles as curve_titles
    from .reviewed import differences_of as differences_of
    from .reviewed import open_take as open_take
    from .run import TakeResult as TakeResult
    from .run import run_shot as run_shot
    from .shot import Shot as Shot
    from .shot import read_shot as read_shot
    from .shot import settings_of as settings_of
    from .shot import shot_keys as shot_keys
    from .sketch import Sketch as Sketch
    from .stage_run import StagesResult as StagesResult
    from .stage_run import ending as ending
    from .stage_run import rehearse_stages as rehearse_stages
    from .stage_run import run_stages as run_stages
    from .stages import Stages as Stages
    from .stages import read_shot_or_stages as read_shot_or_stages
    from .stages import read_stages as read_stages
    from .stages import shot_or_stages_of as shot_or_stages_of
    from .stopping import StopAsked as StopAsked
    from .stopping import ask_to_stop as ask_to_stop
    from .swatches import SwatchSettings as SwatchSettings
    from .swatches import write_swatches as write_swatches
    from .tables import KeyLine as KeyLine
    from .toml_edit import is_plain as is_plain
    from .tried_keys import TriedPlan as TriedPlan
    from .tried_keys import TriedPoses as TriedPoses
    from .wrinkle_demos import WRINKLE_DEMOS as WRINKLE_DEMOS
else:
    __getattr__, __dir__, __all__ = on_demand(__name__, __file__)

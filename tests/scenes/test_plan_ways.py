"""Figure 9: what is planned for what is seen meets its keys; what is linear does not, or swells."""

from __future__ import annotations

from bunraku.scenes import plan_ways


def test_only_what_is_planned_for_the_warp_is_seen_to_meet_its_keys() -> None:
    study = plan_ways(cells=(3, 8, 3))
    place = {name: study.value(name, "place missed, of size") for name, _ in study.rows}
    assert place["nonlinear"] < 1e-3 < 1e-2 < place["linear"] < place["linear, then warped"]
    speed = {name: study.value(name, "velocity missed m/s") for name, _ in study.rows}
    assert speed["nonlinear"] < 5e-3 < 0.05 < speed["linear, then warped"]
    swollen, kept = (study.value(name, "largest volume") for name in ("linear", "nonlinear"))
    assert swollen > 1.2 and kept < 1.05 and study.value("nonlinear", "smallest volume") > 0.9

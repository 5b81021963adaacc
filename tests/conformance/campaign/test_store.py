"""A campaign on disk: whole files, one owner, and damage that is noticed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from thence.conformance.campaign import CampaignError, CampaignParameters, status
from thence.conformance.campaign.store import (
    BATCHES,
    MANIFEST,
    Batch,
    Manifest,
    check_code,
    clear_drafts,
    code_fingerprint,
    create,
    finished_batches,
    locked,
    read_manifest,
    read_rows,
    write_batch,
)
from thence.conformance.campaign.tally_rows import tally_rows

WALK = CampaignParameters("campaign_demo:walk", {"steps": 20, "limit": 6}, first_seed=5, cases=50, batch=20)


@pytest.fixture
def campaign(tmp_path: Path, rows_of: Callable[[CampaignParameters], pa.Table]) -> Path:
    """A campaign with its first and its last batch done, the middle one missing."""
    directory = tmp_path / "campaign"
    directory.mkdir()
    create(directory, WALK, {})
    table = rows_of(WALK)
    for seeds in (WALK.batches()[0], WALK.batches()[2]):
        rows = table.slice(seeds.start - WALK.first_seed, len(seeds))
        write_batch(directory, WALK, seeds, rows, tally_rows(rows))
    return directory


def test_what_is_written_is_read(campaign: Path, rows_of: Callable[[CampaignParameters], pa.Table]) -> None:
    manifest = read_manifest(campaign)
    assert manifest.parameters == WALK
    assert set(manifest.versions) == {"thence", "pyspark", "pyarrow", "python"}
    batches = finished_batches(campaign, WALK)
    assert [batch.seeds for batch in batches] == [range(5, 25), range(45, 55)]
    assert read_rows(batches[1]).to_pylist() == rows_of(WALK).slice(40, 10).to_pylist()
    assert status(campaign).tally == batches[0].tally + batches[1].tally
    assert not status(campaign).complete
    assert sorted(path.name for path in campaign.iterdir()) == [BATCHES, MANIFEST]


def test_drafts_of_a_killed_process_are_not_batches(campaign: Path) -> None:
    draft = campaign / BATCHES / ".draft-seeds-0000000000000000025-0000000000000000045.parquet"
    draft.write_bytes(b"PAR1 half")
    assert len(finished_batches(campaign, WALK)) == 2
    clear_drafts(campaign)
    assert not draft.exists()
    assert len(finished_batches(campaign, WALK)) == 2


def test_a_second_campaign_in_the_same_directory_is_refused(campaign: Path) -> None:
    with pytest.raises(CampaignError, match="holds a campaign already; resume it"):
        create(campaign, WALK, {})
    with pytest.raises(CampaignError, match=r"its parameters differ \(params, cases\)"):
        create(campaign, replace(WALK, params={"steps": 1, "limit": 1}, cases=51), {})


def test_a_directory_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(CampaignError, match=r"is not empty and not a campaign: it holds letter\.txt"):
        create(tmp_path, WALK, {})
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "damaged"),
        (b"\xff\xfe\x00", "damaged"),
        (b"{", "damaged"),
        (b"[]", "not the manifest of a campaign"),
        (b'{"format": "thence-campaign/9"}', "not the manifest of a campaign"),
        (b'{"format": "thence-campaign/3"}', "was changed"),
    ],
)
def test_a_manifest_that_is_none(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / MANIFEST).write_bytes(content)
    with pytest.raises(CampaignError, match=says):
        read_manifest(tmp_path)


def test_a_changed_manifest_is_noticed(campaign: Path) -> None:
    content = json.loads((campaign / MANIFEST).read_text())
    content["parameters"]["cases"] = 20
    (campaign / MANIFEST).write_text(json.dumps(content))
    with pytest.raises(CampaignError, match="was changed since the campaign began"):
        status(campaign)


def test_no_campaign_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for place in (tmp_path, tmp_path / "nowhere", file):
        with pytest.raises(CampaignError, match=r"is not a campaign: it has no campaign\.json"):
            read_manifest(place)


@pytest.mark.parametrize("damage", [lambda content: b"", lambda content: content[:-9], lambda content: b"x" * 999])
def test_a_damaged_batch_is_named(campaign: Path, damage: Callable[[bytes], bytes]) -> None:
    path = finished_batches(campaign, WALK)[0].path
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(CampaignError, match=f"{path.name} is damaged; delete it and resume"):
        finished_batches(campaign, WALK)


def test_rows_of_a_campaign_that_does_not_say_which_cases_are_vacuous(
    campaign: Path, rows_of: Callable[[CampaignParameters], pa.Table]
) -> None:
    seeds = WALK.batches()[0]
    rows = rows_of(WALK).slice(0, len(seeds))
    write_batch(campaign, WALK, seeds, rows.drop_columns(["vacuous"]), tally_rows(rows))
    assert read_rows(finished_batches(campaign, WALK)[0]).equals(rows)


def test_rows_that_cannot_be_read_are_named(campaign: Path) -> None:
    path = finished_batches(campaign, WALK)[0].path
    content = bytearray(path.read_bytes())
    content[4:200] = bytes(196)
    path.write_bytes(content)
    with pytest.raises(CampaignError, match="is damaged"):
        read_rows(finished_batches(campaign, WALK)[0])


def test_a_flipped_bit_is_damage_or_changes_nothing(campaign: Path) -> None:
    before = finished_batches(campaign, WALK)[0]
    rows, whole, random = read_rows(before), before.path.read_bytes(), Random(1)
    refused = 0
    for bit in random.sample(range(8 * len(whole)), 300):
        before.path.write_bytes((int.from_bytes(whole, "little") ^ 1 << bit).to_bytes(len(whole), "little"))
        try:
            after = finished_batches(campaign, WALK)[0]
            found = read_rows(after)
        except CampaignError:
            refused += 1
            continue
        assert after == before, bit
        assert found.equals(rows), bit
    assert refused > 150


def test_a_batch_of_another_campaign_is_named(campaign: Path) -> None:
    with pytest.raises(CampaignError, match="is a batch of another campaign"):
        finished_batches(campaign, replace(WALK, params={"steps": 1, "limit": 1}))
    (campaign / BATCHES / "mine.parquet").write_bytes(b"")
    with pytest.raises(CampaignError, match=r"mine\.parquet is no batch of this campaign"):
        finished_batches(campaign, WALK)


def test_too_few_rows_are_damage(campaign: Path, rows_of: Callable[[CampaignParameters], pa.Table]) -> None:
    rows = rows_of(WALK).slice(20, 19)
    batch = write_batch(campaign, WALK, range(25, 45), rows, tally_rows(rows))
    assert isinstance(batch, Batch)
    with pytest.raises(CampaignError, match="is damaged"):
        finished_batches(campaign, WALK)


def test_a_batch_in_the_place_of_another_is_damage(
    campaign: Path, rows_of: Callable[[CampaignParameters], pa.Table]
) -> None:
    """Else its seeds would count twice, and those of the other never."""
    rows = rows_of(WALK).slice(20, 20)
    write_batch(campaign, WALK, range(5, 25), rows, tally_rows(rows))
    with pytest.raises(CampaignError, match="is damaged; delete it and resume"):
        finished_batches(campaign, WALK)


def test_other_code_is_refused(campaign: Path) -> None:
    manifest = read_manifest(campaign)
    assert manifest.code == code_fingerprint()
    check_code(campaign, manifest, {})
    with pytest.raises(CampaignError, match="began with other code"):
        check_code(campaign, Manifest(manifest.parameters, manifest.versions, "0" * 32), {})


def test_one_process_at_a_time(tmp_path: Path) -> None:
    attempt = (
        "import sys; from pathlib import Path; from thence.conformance.campaign.store import locked\n"
        "with locked(Path(sys.argv[1])): print('mine')"
    )
    command = [sys.executable, "-c", attempt, str(tmp_path / "new")]
    with locked(tmp_path / "new"):
        second = subprocess.run(command, capture_output=True, text=True, check=False)
        assert second.returncode == 1
        assert "another process works on the campaign" in second.stderr
    third = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (third.returncode, third.stdout) == (0, "mine\n")


def test_a_place_that_cannot_be_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CampaignError, match="cannot hold a campaign"), locked(tmp_path / "file" / "below"):
        pytest.fail("locked")


def test_a_batch_that_cannot_be_written(campaign: Path, rows_of: Callable[[CampaignParameters], pa.Table]) -> None:
    moved = (campaign / BATCHES).rename(campaign / "moved")
    (campaign / BATCHES).write_text("")
    rows = rows_of(WALK).slice(20, 20)
    with pytest.raises(CampaignError, match="cannot be written"):
        write_batch(campaign, WALK, range(25, 45), rows, tally_rows(rows))
    assert len(list(moved.iterdir())) == 2


def test_what_is_another_than_at_the_beginning_is_named(campaign: Path) -> None:
    there = read_manifest(campaign)
    began = {"systems": {"mine:Mine": {"system": "1", "protocol": "2"}}, "sent": {"mine.py": "3", "same.zip": "4"}}
    now = {"systems": {"mine:Mine": {"system": "9", "protocol": "2"}}, "sent": {"mine.py": "9", "same.zip": "4"}}
    check_code(campaign, replace(there, facts=began), began)
    with pytest.raises(CampaignError, match=r"began with another mine\.py and system of mine:Mine: put back"):
        check_code(campaign, replace(there, facts=began), now)
    with pytest.raises(CampaignError, match=r"began with another mine\.py and same\.zip and system of mine:Mine"):
        check_code(campaign, replace(there, facts=began), {"systems": {"mine:Mine": {"protocol": "2"}}})

"""Campaigns that state a workload: what is derived, what counts, what is refused."""

from __future__ import annotations

import pytest

import gpuladder
from gpuladder.analysis.sizing import size_scenario
from gpuladder.errors import ScenarioError, UsageError
from gpuladder.scenario.writing import dump_folder, dump_yaml


def campaign(loaded, name):
    return next(each for each in loaded.scenario.campaigns if each.id == name)


def test_gpu_hours_are_sized_from_the_workload(content, write):
    """A campaign would be planned with other hours than its model takes.

    6 × 13e9 × 130e9 FLOP at 40 % of 989 TFLOPS; LoRA 4 × 70e9 × 1e9, five runs, at 35 %.
    """
    loaded = gpuladder.load(write(content))
    assert loaded.warnings == ()
    assert campaign(loaded, "pretrain").gpu_hours == pytest.approx(
        6 * 13e9 * 130e9 / (989e12 * 0.4 * 3600)
    )
    assert campaign(loaded, "tuning").gpu_hours == pytest.approx(
        5 * 4 * 70e9 * 1e9 / (989e12 * 0.35 * 3600)
    )


def test_sizes_dates_and_reach_follow(content, write):
    """A gang would have sizes that do not hold it or do not keep its limit.

    7,120 useful hours and a tenth failed in 30 days on H100: 10.9 GPUs, so from two nodes on. The
    cadence of tuning is its repeat.
    """
    loaded = gpuladder.load(write(content))
    gang = campaign(loaded, "pretrain")
    assert gang.gpus == (16, 32, 64, 128)
    assert str(gang.max_duration) == "30 days"
    assert gang.coupling.value == "node"
    assert campaign(loaded, "tuning").repeat.count == 2


def test_what_a_campaign_states_itself_counts(content, write):
    """An analyst's own figure would be overwritten."""
    content["campaigns"][0] |= {"gpu_hours": 7500, "gpus": 24, "max_duration": "6 weeks"}
    loaded = gpuladder.load(write(content))
    gang = campaign(loaded, "pretrain")
    assert (gang.gpu_hours, gang.gpus, str(gang.max_duration)) == (7500, (24,), "6 weeks")
    warning, limit = sorted(loaded.warnings, key=lambda problem: problem.code)
    assert (warning.code, limit.code) == ("GL-S907", "GL-S916")
    assert limit.what == "30 days here, 6 weeks in the campaign"
    assert "is 7,120 GPU-hours; 7,500 was given" in warning.what


def test_hours_that_contradict_the_workload_are_refused(content, write):
    """30,000 hours would be bought for a run of 110."""
    content["campaigns"][0]["gpu_hours"] = 300_000
    with pytest.raises(ScenarioError, match=r"GL-S906.*campaigns\.pretrain\.gpu_hours"):
        gpuladder.load(write(content))


def test_a_percentage_for_an_mfu_is_refused(content, write):
    """A run would be sized at a hundredth."""
    content["campaigns"][0]["workload"]["mfu"] = 40
    with pytest.raises(ScenarioError, match=r"GL-S903.*more than all of peak"):
        gpuladder.load(write(content))


def test_a_peak_with_sparsity_is_doubted(content, write):
    """Every campaign would be sized at half its hours."""
    content["hardware"][0]["peak_tflops"] = 1979
    assert "GL-S908" in [problem.code for problem in gpuladder.load(write(content)).warnings]


@pytest.mark.parametrize("peak", [0.989, 989e3])
def test_a_peak_in_another_unit_is_doubted(peak, content, write):
    """A thousand times the hours, or none, would be blamed on something else."""
    content["hardware"][0]["peak_tflops"] = peak
    for row in content["campaigns"]:
        row.pop("workload")
        row["gpu_hours"] = 1000
    content["campaigns"][0]["gpus"] = 64
    (found,) = gpuladder.load(write(content)).warnings
    assert found.code == "GL-S908"
    assert "in TFLOPS, 989" in found.fix


def test_an_mfu_of_unknown_hardware_is_refused(content, write):
    """The MFU would be taken as a share of another peak."""
    content["campaigns"][0]["workload"]["mfu"] = {"expected": 0.4, "hardware": "H200"}
    with pytest.raises(ScenarioError, match=r"GL-S901.*unknown hardware `H200`"):
        gpuladder.load(write(content))


def test_an_mfu_measured_on_slower_hardware(content, write):
    """Hours on an A100 would be taken for reference hours: they count 0.4 each."""
    content["campaigns"][0]["workload"]["mfu"] = {"expected": 0.5, "hardware": "A100"}
    hours = campaign(gpuladder.load(write(content)), "pretrain").gpu_hours
    assert hours == pytest.approx(0.4 * 6 * 13e9 * 130e9 / (312e12 * 0.5 * 3600))


def test_a_run_that_needs_a_rack_is_coupled_so(content, write):
    """A run too large for a node whose pieces talk constantly would be put on separate nodes."""
    content["campaigns"][0]["workload"]["run"] |= {"params": 70e9, "communication": "constant"}
    content["pools"][0]["fabric"] = "rack"
    loaded = gpuladder.load(write(content))
    assert campaign(loaded, "pretrain").coupling.value == "rack"


def test_hardware_whose_nodes_are_too_small_is_left_out(content, write):
    """Pieces that must stay in one node would be placed on two."""
    content["hardware"][1]["memory_gb"] = 16
    content["campaigns"][0]["workload"]["run"]["communication"] = "constant"
    assert campaign(gpuladder.load(write(content)), "pretrain").hardware == ("H100",)


def test_measured_scaling_becomes_the_gang_s_scaling(content, write):
    """Larger sizes would look as good as small ones."""
    content["campaigns"][0]["workload"]["run"]["scaling"] = {16: 16, 32: 28, 64: 30}
    gang = campaign(gpuladder.load(write(content)), "pretrain")
    assert gang.gpus == (16, 32)
    assert gang.scaling == pytest.approx({16: 1.0, 32: 0.875})


def test_a_class_that_allows_what_the_workload_forbids_is_said(content, write):
    """A run that must not be stopped would be put on spot."""
    content["campaigns"][1]["workload"]["preemption"] = "never"
    (warning,) = gpuladder.load(write(content)).warnings
    assert warning.code == "GL-S910"


def test_unverified_providers_are_barred_when_asked(content, write):
    """Data would go to machines nobody has verified."""
    content["invoice"] = {"providers": [{"provider": "vast-ai", "verified": False}]}
    content["campaigns"][0]["workload"]["placement"] = {"verified": True}
    assert campaign(gpuladder.load(write(content)), "pretrain").providers == ("aws",)


def test_a_resolved_scenario_loads_to_the_same(content, write, tmp_path):
    """A saved run would change when it is read back."""
    scenario = gpuladder.load(write(content)).scenario
    path = tmp_path / "again.yaml"
    path.write_text(dump_yaml(scenario))
    again = gpuladder.load(path)
    assert again.scenario == scenario
    assert again.warnings == ()
    dump_folder(scenario, tmp_path / "folder")
    assert gpuladder.load(tmp_path / "folder").scenario == scenario


def test_an_override_of_the_workload_moves_the_hours(content, write):
    """`--set` on the MFU would change nothing."""
    path = write(content)
    setting = "campaigns.pretrain.workload.mfu.expected=0.5"
    before = campaign(gpuladder.load(path), "pretrain").gpu_hours
    after = campaign(gpuladder.load(path, overrides=[setting]), "pretrain").gpu_hours
    assert after == pytest.approx(before * 0.4 / 0.5)


def test_sheets_of_a_scenario(content, write):
    """The sheet would show other hours than the plan uses, or hide why a pool is barred."""
    content["campaigns"][0]["hardware"] = ["H100"]
    scenario = gpuladder.load(write(content)).scenario
    first, second = size_scenario(scenario)
    assert first.gpu_hours == scenario.campaigns[0].gpu_hours
    assert [(p.place, p.admissible) for p in first.places] == [("east", True), ("west", False)]
    assert second.forms[0].form == "reserved"
    assert second.machine.price_per_gpu_hour == 3.0
    assert size_scenario(scenario, "tuning") == (second,)
    with pytest.raises(UsageError, match="no campaign `other`"):
        size_scenario(scenario, "other")


def test_terms_that_match_nothing_are_said(content, write):
    """Terms of a misspelt provider would count for nothing without a word."""
    content["invoice"] = {"providers": [{"provider": "vast", "verified": False}]}
    found = gpuladder.load(write(content)).warnings
    assert [problem.code for problem in found] == ["GL-S911"]
    assert "did you mean `vast-ai`" in found[0].what


def codes(content, write):
    """Return the codes of what loading says, whether it refuses or warns."""
    try:
        return [problem.code for problem in gpuladder.load(write(content)).warnings]
    except ScenarioError as error:
        return [problem.code for problem in error.problems]


def test_several_runs_are_not_one_gang(content, write):
    """A limit of one run would hold for the work of five, so that no size would do."""
    content["campaigns"][0]["workload"]["run"]["runs"] = 5
    with pytest.raises(ScenarioError, match=r"GL-S915.*its workload has 5") as caught:
        gpuladder.load(write(content))
    assert "count: 5" in str(caught.value)


def test_a_model_that_fits_nowhere_is_refused(content, write):
    """Weeks of GPUs would be bought for a model they cannot hold.

    400e9 × (2 + 2 + 12) bytes are 6,400 GB before activations; 8 H100 hold 8 × 80 × 0.8 = 512.
    """
    content["campaigns"][0] |= {"gpus": 8, "gpu_hours": 2000}
    content["campaigns"][0]["workload"]["run"] = {"params": 400e9, "tokens": 1.2e9}
    with pytest.raises(ScenarioError, match=r"GL-S914.*8 × H100 of 80 GB at 0.8 .* hold 512"):
        gpuladder.load(write(content))


def test_small_jobs_that_hold_no_copy_are_refused(content, write):
    """Fine-tunes of 1,600 GB would be planned on 32 GPUs that hold 2,048, eight at a time.

    Full fine-tune of 200e9: weights × 4 are 1,600 GB, so a job has 32 of them: 40 are 5 nodes.
    Of 400e9 it is 3,200 GB, more than all 32.
    """
    run = {"method": "full_finetune", "params": 200e9, "tokens": 1e9}
    content["campaigns"][1]["workload"]["run"] = run
    content["campaigns"][1]["hardware"] = ["H100"]
    assert campaign(gpuladder.load(write(content)), "tuning").job_gpus == 32
    content["campaigns"][1]["job_gpus"] = 8
    assert codes(content, write) == ["GL-S914"]
    run["params"] = 400e9
    with pytest.raises(ScenarioError, match=r"GL-S914.*needs 3,200 GB .* hold 2,048"):
        gpuladder.load(write(content))


def test_a_rack_run_is_sized_by_racks_alone(content, write):
    """Sizes would be whole nodes of hardware on which the run may not be placed."""
    content["hardware"].append(
        {"id": "GB", "memory_gb": 186, "gpus_per_node": 4, "peak_tflops": 2500, "relative_speed": 2}
    )
    content["pools"].append(
        {"id": "r", "provider": "cw", "region": "us", "hardware": "GB", "fabric": "rack"}
    )
    content["offers"].append(
        {"id": "r-od", "pool": "r", "kind": "on_demand", "price": 7.0, "max_gpus": 4096}
    )
    run = {"params": 200e9, "tokens": 1e9, "communication": "constant"}
    content["campaigns"][0]["workload"]["run"] = run
    gang = campaign(gpuladder.load(write(content)), "pretrain")
    assert gang.coupling.value == "rack"
    assert gang.hardware == ("GB",)
    assert gang.gpus[0] == 24  # 3,236 GB ÷ (186 × 0.8) are 21.7 GPUs: 6 nodes of 4


def test_a_run_that_must_not_be_stopped_stays_off_spot(content, write):
    """Capacity would be taken back in the middle of a run that does not survive it."""
    content["preemption_classes"][1]["spot_share_max"] = 1
    before = gpuladder.solve(write(content))
    assert before.plan.spot_use
    content["campaigns"][1]["workload"]["preemption"] = "never"
    after = gpuladder.solve(write(content))
    assert after.plan.spot_use == ()


def test_a_failure_rate_that_the_plan_does_not_count_is_said(content, write):
    """A workload's failures would change its sheet and, against expectation, no plan."""
    content["campaigns"][0]["workload"]["checkpoints"] = {"node_mtbf_hours": 100}
    assert codes(content, write) == ["GL-S916"]
    content["hardware"][0]["node_mtbf_hours"] = 100
    content["campaigns"][0]["hardware"] = ["H100"]
    assert codes(content, write) == []


def test_a_sheet_is_priced_where_the_campaign_may_run(content, write):
    """The sheet would show the price of a pool that is barred, or of hardware nobody may use."""
    content["pools"].append({"id": "far", "provider": "azure", "region": "eu", "hardware": "H100"})
    content["offers"].append(
        {"id": "far-od", "pool": "far", "kind": "on_demand", "price": 0.5, "max_gpus": 512}
    )
    content["campaigns"][0]["pools"] = ["east"]
    (sheet,) = size_scenario(gpuladder.load(write(content)).scenario, "pretrain")
    assert sheet.place.price_per_gpu_hour == 3.0
    assert [fit.hardware for fit in sheet.fits] == ["H100"]


def test_a_sheet_is_worked_where_the_campaign_may_run(content, write):
    """Length and goodput would be those of hardware that the campaign may not use.

    Only A100, at 0.4 of an H100's speed, without failures: the MFU stays one of H100.
    """
    content["campaigns"][0] |= {"hardware": ["A100"], "gpus": 64, "waste": 0.0}
    (sheet,) = size_scenario(gpuladder.load(write(content)).scenario, "pretrain")
    assert (sheet.machine.id, sheet.place.id) == ("H100", "A100")
    assert sheet.goodput == 1.0
    assert sheet.run_hours == pytest.approx(sheet.gpu_hours / (64 * 0.4))
    compute = next(step for step in sheet.steps if step.name == "compute at the expected MFU")
    assert compute.value == pytest.approx(sheet.gpu_hours / 0.4 * 1.5)


def test_an_offer_that_is_not_yet_there_has_no_price(content, write):
    """A price of next year would be shown for a run of this one."""
    content["offers"][0]["available_from"] = "2026-05-01"
    content["campaigns"] = content["campaigns"][:1]
    content["campaigns"][0]["hardware"] = ["H100"]
    (sheet,) = size_scenario(gpuladder.load(write(content)).scenario, "pretrain")
    assert sheet.place.price_per_gpu_hour is None


def test_terms_of_the_invoice_that_cannot_be_meant_are_said(content, write):
    """60 % busy would make every bill 60 times its hours, or a second row count for nothing."""
    content["invoice"] = {"utilisation_multiplier": 60}
    (found,) = gpuladder.load(write(content)).warnings
    assert (found.code, found.fix) == ("GL-S110", "for 60 % busy write 1.667")
    rows = [{"provider": "aws", "minimum_credit": 5}, {"provider": "aws", "queue_hours": 2}]
    content["invoice"] = {"providers": rows}
    with pytest.raises(ScenarioError, match=r"GL-S211.*providers\[2\].*`aws` is written twice"):
        gpuladder.load(write(content))


def test_decentralised_machines_are_not_verified_unless_stated(content, write):
    """Saying nothing about a market of strangers' machines would verify them."""
    content["campaigns"][0]["workload"]["placement"] = {"verified": True}
    assert campaign(gpuladder.load(write(content)), "pretrain").providers == ("aws",)
    content["invoice"] = {"providers": [{"provider": "vast-ai", "verified": True}]}
    assert campaign(gpuladder.load(write(content)), "pretrain").providers is None


@pytest.mark.parametrize(
    ("campaign_keys", "workload_keys", "words"),
    [
        ({}, {"time_limit": "3 days"}, "3 days here, small jobs"),
        ({"repeat": {"every": "1 months", "count": 2}}, {}, "every 2 months, 2 times here"),
        ({"hardware": ["H100"]}, {"placement": {"hardware": ["A100"]}}, "A100 here, H100"),
        ({"providers": ["vast-ai"]}, {"placement": {"providers": ["aws"]}}, "aws here, vast-ai"),
    ],
)
def test_lines_that_a_campaign_overrides_are_said(
    campaign_keys, workload_keys, words, content, write
):
    """One of two answers would count without a word."""
    content["campaigns"][1] |= campaign_keys
    content["campaigns"][1]["workload"] |= workload_keys
    (found,) = gpuladder.load(write(content)).warnings
    assert found.code == "GL-S916"
    assert found.what.startswith(words)


def test_counts_have_letters_in_a_file_too(content, write):
    """`13B` would be right on the command line and wrong in a file."""
    run = content["campaigns"][0]["workload"]["run"]
    plain = campaign(gpuladder.load(write(content)), "pretrain")
    run |= {"params": "13B", "tokens": "130 B"}
    lettered = gpuladder.load(write(content))
    assert campaign(lettered, "pretrain").gpu_hours == plain.gpu_hours
    assert campaign(lettered, "pretrain").workload.run.params == 13e9
    run["tokens"] = "0.13T"
    assert campaign(gpuladder.load(write(content)), "pretrain").gpu_hours == pytest.approx(
        plain.gpu_hours
    )


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("params", "13X", "write 13e9 or 13B"),
        ("params", "13 billion", "write 13e9 or 13B"),
        ("params", "13_000B", "nothing between thousands"),
        ("params", "-13B", "greater than 0"),
        ("params", True, "a number is needed"),
        ("tokens", "infB", "write 13e9 or 13B"),
        ("tokens", 0, "greater than 0"),
        ("tokens", 1e18, "at most 1e+15"),
        ("sequence", "8K", "write it out in digits"),
        ("sequence", 4096.5, "round it"),
        ("layers", 40, "add the other one"),
        ("micro_batch", 0, "greater than 0"),
        ("usable_share", 80, "80 % is 0.8"),
        ("communication_share", 20, "20 % is 0.2"),
        ("active_params", "20B", "is more than `params`"),
        ("method", "LORA", "did you mean `lora`"),
        ("scaling", {"8": "fast"}, "a number is needed"),
        ("scaling", {"8": 1, "16": 100}, "16 GPUs do 100, 50 times as much each as 8"),
    ],
)
def test_what_a_file_says_wrongly_is_said_in_its_words(key, value, words, content, write):
    """A message would name flags or internals to somebody who wrote a file."""
    content["campaigns"][0]["workload"]["run"][key] = value
    with pytest.raises(ScenarioError) as caught:
        gpuladder.load(write(content))
    text = str(caught.value)
    assert words in text
    assert "campaigns.pretrain.workload.run" in text
    for foreign in ("--", "Value error", "pydantic", "Input should"):
        assert foreign not in text


@pytest.mark.parametrize(
    ("mfu", "words"),
    [
        ("40%", "40% is 0.4"),
        (40, "write 0.4 for 40 %"),
        (0, "greater than 0"),
        ({"expected": 0.4, "low": 0.5}, "out of order"),
        ({"low": 0.4}, "`expected` is missing"),
    ],
)
def test_an_mfu_that_is_none_is_said_in_the_file_s_words(mfu, words, content, write):
    """A percentage would be refused without a word of how to write it."""
    content["campaigns"][0]["workload"]["mfu"] = mfu
    with pytest.raises(ScenarioError) as caught:
        gpuladder.load(write(content))
    assert words in str(caught.value)
    assert "--" not in str(caught.value)


def test_a_key_that_counts_for_nothing_is_said_with_its_place(content, write):
    """A batch beside LoRA would change nothing, and the file's owner not be told where."""
    content["campaigns"][1]["workload"]["run"] |= {"micro_batch": 8, "heads": 64}
    found = gpuladder.load(write(content)).warnings
    assert [problem.code for problem in found] == ["GL-S918", "GL-S918"]
    assert found[0].where.endswith("campaigns.tuning.workload.run.micro_batch")
    assert "175.0 GB whatever the batch" in found[0].why


@pytest.mark.parametrize(
    ("index", "keys", "workload", "words"),
    [
        (0, {"coupling": "rack"}, {}, "`coupling` is rack; the workload comes to node"),
        (0, {"scaling": {16: 0.8}, "gpus": 16}, {"run": {"communication_share": 0.1}}, "not 0.909"),
        (0, {}, {"time_limit": "90 days"}, "90 days here, 59 days from `earliest` to `deadline`"),
        (1, {}, {"run": {"communication_share": 0.1}}, "0.1 here, small jobs"),
    ],
)
def test_a_campaign_that_overrides_its_workload_is_said(
    index, keys, workload, words, content, write
):
    """One of two answers would count without a word."""
    content["pools"][0]["fabric"] = "rack"
    own = content["campaigns"][index]
    own |= keys
    for key, value in workload.items():
        stated = own["workload"].get(key)
        own["workload"][key] = {**stated, **value} if isinstance(stated, dict) else value
    found = [problem.what for problem in gpuladder.load(write(content)).warnings]
    assert any(words in what for what in found), found


def test_providers_that_nobody_verified_are_refused_when_verified_is_asked(content, write):
    """Data would go to strangers' machines because another line names them."""
    content["campaigns"][0] |= {"providers": ["vast-ai"]}
    content["campaigns"][0]["workload"]["placement"] = {"verified": True}
    with pytest.raises(ScenarioError, match=r"GL-S916.*names vast-ai, and `placement.verified`"):
        gpuladder.load(write(content))


def test_more_usable_memory_makes_smaller_runs(content, write):
    """The share of memory that a run can use could be stated and not be read.

    QLoRA aside, 13e9 × 16 bytes and 14.6 GB of activations are 222.6 GB: 4 H100 hold 256 at 0.8, 5
    hold 200 at 0.5, so a node of 8; a model of 30e9 needs 510: 8 at 0.8 hold 512, at 0.7 they do
    not.
    """
    run = content["campaigns"][0]["workload"]["run"]
    run |= {"params": 30e9, "tokens": 10e9}
    content["campaigns"][0]["hardware"] = ["H100"]
    assert campaign(gpuladder.load(write(content)), "pretrain").gpus[0] == 8
    run["usable_share"] = 0.7
    assert campaign(gpuladder.load(write(content)), "pretrain").gpus[0] == 16


def kinds(sheet):
    return {(s.name, s.value) for s in sheet.steps if " in pool " in s.name}


def test_pools_and_kinds_are_always_shown(content, write):
    """Without a cadence a reader would not see where the run may go, nor on which contract.

    `steady` keeps all work off spot; `tolerant` lets half of it there.
    """
    scenario = gpuladder.load(write(content)).scenario
    first, second = size_scenario(scenario)
    assert kinds(first) == {
        ("on demand in pool east", "admissible"),
        ("spot in pool east", "not admissible"),
        ("reserved in pool east", "admissible"),
        ("on demand in pool west", "admissible"),
    }
    assert ("spot in pool east", "admissible") in kinds(second)
    assert {form.form for form in first.forms} == {"reserved", "burst_window", "on_demand", "spot"}
    content["campaigns"][0]["tenancy"] = "dedicated"
    content["offers"].append(
        {
            "id": "own",
            "pool": "east",
            "kind": "owned",
            "lot_gpus": 8,
            "capex_per_gpu": 30000,
            "life": "4 years",
            "opex_per_gpu_hour": 0.5,
        }
    )
    first, _ = size_scenario(gpuladder.load(write(content)).scenario)
    assert {name for name, value in kinds(first) if value == "admissible"} == {"owned in pool east"}


def test_a_gang_of_several_sizes_is_shown_at_one_that_keeps_its_limit(content, write):
    """The sheet would warn that a run is late on a size that the plan need not choose."""
    content["campaigns"][0] |= {"gpus": [8, 16, 32], "hardware": ["H100"]}
    (sheet,) = size_scenario(gpuladder.load(write(content)).scenario, "pretrain")
    assert sheet.gpus == 16
    assert not [problem for problem in sheet.warnings if problem.code == "GL-S919"]


def test_what_was_said_at_loading_is_on_the_sheet(content, write):
    """A line that does not count would be said by `validate` and not by `size`."""
    content["campaigns"][1]["workload"]["preemption"] = "never"
    loaded = gpuladder.load(write(content))
    first, second = size_scenario(loaded.scenario, None, loaded.warnings)
    assert [problem.code for problem in second.warnings] == ["GL-S910"]
    assert first.warnings == ()


def test_the_json_schema_wants_hours_or_a_workload():
    """An editor would accept a campaign without either, and refuse one with a workload alone."""
    from gpuladder.scenario.fingerprint import json_schema

    shapes = json_schema()["$defs"]
    for name, sized in (
        ("ElasticCampaign", ["gpu_hours"]),
        ("GangCampaign", ["gpu_hours", "gpus"]),
    ):
        assert shapes[name]["anyOf"] == [{"required": ["workload"]}, {"required": sized}]
        assert not {"gpu_hours", "gpus", "workload"} & set(shapes[name]["required"])
    params = shapes["Run"]["properties"]["params"]
    assert {kind["type"] for kind in params["anyOf"]} == {"number", "string"}

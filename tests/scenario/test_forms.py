"""CSV folders and workbooks: what is read, what is refused, and where it stands."""

# ruff: noqa: DTZ001 (the times of a scenario are naive)

from __future__ import annotations

import datetime as dt
import zipfile

import openpyxl
import pytest
import yaml

from gpuladder.errors import ScenarioError
from gpuladder.scenario.loading import load

TABLES = ("hardware", "pools", "offers", "preemption_classes", "campaigns")


@pytest.fixture
def folder(raw, tmp_path):
    """The minimal scenario with its offers and campaigns as CSV."""
    path = tmp_path / "case"
    path.mkdir()
    del raw["offers"], raw["campaigns"]
    (path / "scenario.yaml").write_text(yaml.safe_dump(raw))
    (path / "offers.csv").write_text(
        "id,pool,kind,price [USD per GPU-hour],tenor,lot_gpus,max_lots\n"
        "od,east,on_demand,3.0,,,\n"
        ",,,,,,\n"
        'res,east,reserved,"[2.0, 1.8]","[13 weeks, 26 weeks]",8,8\n'
    )
    (path / "campaigns.csv").write_text(
        "id,shape,preemption_class,gpu_hours,max_gpus,earliest,deadline,repeat,gpus,scaling\n"
        'train,elastic,critical,1000,64,2026-07-13,2026-08-10,"{every: 4 weeks, count: 3}",,\n'
        'big,gang,critical,1000,,2026-07-13,2026-08-10,,"[16, 32]",{32: 0.9}\n'
    )
    return path


@pytest.fixture
def book(raw, tmp_path):
    """The minimal scenario as a workbook, open for changes; ``save`` loads it."""
    content = openpyxl.Workbook()
    main = content.active
    main.title = "scenario"
    for row in (
        ("key", "value", "note"),
        ("name", "minimal", None),
        ("horizon.start", dt.datetime(2026, 7, 6), "a date"),
        ("horizon.end", dt.date(2027, 1, 4), None),
        ("horizon.step", "week", None),
        (None, None, None),
        ("policy.ladder", "{window: 13 weeks, max_expiring_share: 0.5}", None),
    ):
        main.append(row)
    for table in TABLES:
        sheet = content.create_sheet(table)
        keys = list(dict.fromkeys(key for row in raw[table] for key in row))
        sheet.append(keys)
        for row in raw[table]:
            sheet.append([row.get(key) for key in keys])
    return content


@pytest.fixture
def save(tmp_path):
    def load_it(content):
        content.save(tmp_path / "s.xlsx")
        return load(tmp_path / "s.xlsx")

    return load_it


def refused(path):
    with pytest.raises(ScenarioError) as caught:
        load(path)
    return caught.value.problems


def test_a_folder_is_read(folder):
    """Tables kept in a spreadsheet would have to be typed in again."""
    scenario = load(folder).scenario
    assert [offer.id for offer in scenario.offers] == ["od", "res"]
    assert scenario.offers[1].price == (2.0, 1.8)
    assert scenario.campaigns[0].repeat.count == 3
    assert scenario.campaigns[1].gpus == (16, 32)
    assert scenario.campaigns[1].scaling == {32: 0.9}


def test_a_table_may_be_the_path_of_a_csv(folder):
    """A long usage history could not lie in a folder of its own."""
    (folder / "history").mkdir()
    (folder / "history" / "use.csv").write_text("pool,at,gpus\neast,2026-07-06 14:00,8\n")
    main = folder / "scenario.yaml"
    main.write_text(main.read_text() + "demand: history/use.csv\noffers: offers.csv\n")
    assert load(folder).scenario.demand[0].at == dt.datetime(2026, 7, 6, 14)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("gone.csv", "no such file"),
        ("https://example.org/use.csv", "beside"),
        ("/etc/passwd", "beside"),
        ("scenario.yaml", "beside"),
    ],
)
def test_a_path_that_cannot_be_a_table_is_refused(name, word, folder):
    """A scenario from elsewhere could read other files, or fetch from the network."""
    main = folder / "scenario.yaml"
    main.write_text(main.read_text() + f"demand: {name}\n")
    (problem,) = refused(folder)
    assert (problem.code, word in problem.what) == ("GL-S001", True)
    assert "scenario.yaml" in problem.where


@pytest.mark.parametrize(
    ("text", "code", "place", "word"),
    [
        ("id;pool;kind\nod;east;on_demand\n", "GL-S005", "offers.csv:1", "commas"),
        ("id,pool,kind,price\nod,east,on_demand,3,5\n", "GL-S005", "offers.csv:2", "decimal comma"),
        ('id,pool,kind,price\nod,east,on_demand,"3,5"\n', "GL-S103", "offers.csv:2", "point"),
        ("id,pool,kind,prize\nod,east,on_demand,3\n", "GL-S101", "offers.csv:2", "`price`"),
        ("id,id,pool\nod,x,east\n", "GL-S003", "offers.csv:1", "`id`"),
        ("id,pool,kind,price\nod,east,on_demand,[3\n", "GL-S002", "offers.csv:2", "YAML"),
        ("", "GL-S005", "offers.csv", "empty"),
        ("id,pool,,price\nod,east,on_demand,3\n", "GL-S005", "offers.csv:2", "no column header"),
        ('id,pool\n"od,east\n', "GL-S005", "offers.csv:2", "not a CSV"),
        ("id,pool,kind,price\nZ\xfc,east,on_demand,3\n", "GL-S007", "offers.csv:2", "UTF-8"),
    ],
)
def test_a_wrong_csv_is_refused_at_its_row(text, code, place, word, folder):
    """A spreadsheet's export would change numbers or names without a word."""
    (folder / "offers.csv").write_bytes(text.encode("latin-1"))
    problem = refused(folder)[0]
    assert (problem.code, word in problem.text) == (code, True), problem.text
    assert problem.where.split(" ")[0].endswith(place)


def test_quoted_line_breaks_do_not_shift_the_rows(folder):
    """Every message after a cell with two lines would point one row too high."""
    (folder / "offers.csv").write_text(
        'id,pool,kind,price\nod,east,on_demand,"3\n"\nod2,east,on_demand,-1\n'
    )
    (problem,) = refused(folder)
    assert problem.where.endswith("offers.csv:4 offers.od2.price")


def test_problems_of_several_files_come_together(folder):
    """Each file would need a run of its own."""
    (folder / "offers.csv").write_text("id;pool\n")
    (folder / "campaigns.csv").write_text("")
    assert {p.where.rpartition("/")[2] for p in refused(folder)} == {
        "offers.csv:1",
        "campaigns.csv",
    }


def test_a_folder_without_its_main_file_is_refused(tmp_path):
    """A wrong folder would look like an empty scenario."""
    assert "scenario.yaml" in refused(tmp_path)[0].what


def test_a_table_in_two_places_is_refused(folder):
    """One of the two would silently win."""
    main = folder / "scenario.yaml"
    main.write_text(main.read_text() + "offers: []\n")
    (problem,) = refused(folder)
    assert problem.code == "GL-S009"


def test_a_misspelt_table_is_refused_and_a_foreign_one_is_mentioned(folder):
    """`offer.csv` would silently not count."""
    (folder / "sources.csv").write_text("a,b\n")
    (warning,) = load(folder).warnings
    assert (warning.code, "was not read" in warning.what) == ("GL-S009", True)
    (folder / "commitment.csv").write_text("a,b\n")
    assert "did you mean `commitments`" in refused(folder)[0].what


def test_a_workbook_is_read(book, save):
    """Buyers who keep offers in Excel would have to leave it."""
    loaded = save(book)
    assert loaded.scenario.horizon.end == dt.date(2027, 1, 4)
    assert loaded.scenario.policy.ladder.max_expiring_share == 0.5
    assert loaded.locations.where(("offers", 1, "lot_gpus")) == "offers!F3 offers.res.lot_gpus"
    assert loaded.warnings == ()


def test_excel_types_are_what_they_look_like(book, save):
    """Dates, whole numbers and names made of digits would not survive Excel."""
    book["pools"]["A2"] = 7
    for cell in ("B2", "B3"):
        book["offers"][cell] = 7
    demand = book.create_sheet("demand")
    demand.append(["pool", "at [date and time]", "gpus"])
    demand.append([7, dt.datetime(2026, 7, 6, 1), 8])
    demand.append([7, "2026-07-06 02:00", 8.0])
    demand.append([7, 46209.125, 8])
    demand["B4"].number_format = "yyyy-mm-dd hh:mm"
    scenario = save(book).scenario
    assert scenario.pools[0].id == scenario.offers[0].pool == "7"
    assert [row.at.hour for row in scenario.demand] == [1, 2, 3]


@pytest.mark.parametrize(
    ("cell", "value", "code", "where"),
    [
        ("D2", -3, "GL-S104", "offers!D2 offers.od.price"),
        ("D2", True, "GL-S103", "offers!D2 offers.od.price"),
        ("D2", "#N/A", "GL-S006", "offers!D2"),
        ("D2", "=1+2", "GL-S006", "offers!D2"),
        ("Z2", "stray", "GL-S006", "offers!Z2"),
        ("D1", "prize", "GL-S101", "offers!D2 offers.od.prize"),
        ("D3", "[2.0", "GL-S002", "offers!D3"),
        ("E3", dt.datetime(2026, 7, 6), "GL-S103", "offers!E3 offers.res.tenor"),
    ],
)
def test_a_wrong_cell_is_named(cell, value, code, where, book, save, tmp_path):
    """The mistake would have to be searched for on ten sheets."""
    book["offers"][cell] = value
    with pytest.raises(ScenarioError) as caught:
        save(book)
    first = caught.value.problems[0]
    assert (first.code, first.where) == (code, where), first.text


def test_sheets_of_the_policy_are_read(book, save):
    """Budgets would have to be written as one long text."""
    sheet = book.create_sheet("policy.cash_budgets")
    sheet.append(["from", "until", "max"])
    sheet.append([dt.date(2026, 7, 6), dt.date(2026, 10, 5), 100000])
    assert save(book).scenario.policy.cash_budgets[0].max == 100000


def test_a_misspelt_sheet_is_refused_and_a_foreign_one_is_mentioned(book, save):
    """A sheet `offer` would silently not count."""
    book.create_sheet("my sums")
    assert [w.code for w in save(book).warnings] == ["GL-S009"]
    book.create_sheet("Commitment")
    with pytest.raises(ScenarioError, match="did you mean `commitments`"):
        save(book)


def test_a_workbook_without_its_main_sheet_is_refused(book, save):
    """The horizon would seem to be missing from nowhere."""
    del book["scenario"]
    with pytest.raises(ScenarioError, match="no sheet `scenario`"):
        save(book)


def test_a_key_twice_on_the_main_sheet_is_refused(book, save):
    """One of two horizons would silently win."""
    book["scenario"].append(["horizon.step", "month", None])
    with pytest.raises(ScenarioError) as caught:
        save(book)
    assert [(p.code, p.where) for p in caught.value.problems] == [("GL-S003", "scenario!B8")]


def test_what_is_no_workbook_is_refused(tmp_path):
    """A renamed or broken file would end in a traceback."""
    (tmp_path / "text.xlsx").write_text("name: x")
    assert refused(tmp_path / "text.xlsx")[0].code == "GL-S006"
    with zipfile.ZipFile(tmp_path / "zip.xlsx", "w") as archive:
        archive.writestr("a.txt", "x")
    assert refused(tmp_path / "zip.xlsx")[0].code == "GL-S006"


def test_a_zip_bomb_is_not_unpacked(tmp_path):
    """A small file from elsewhere could fill the memory."""
    with (
        zipfile.ZipFile(tmp_path / "b.xlsx", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("xl/workbook.xml", "w") as entry,
    ):
        for _ in range(600):
            entry.write(b" " * 1_000_000)
    assert "unpacks to 600 MB" in refused(tmp_path / "b.xlsx")[0].what

"""Files from elsewhere: every row is kept or dropped for a reason, and a bad file is one error."""

from __future__ import annotations

import gzip

import pytest

from gpuladder.cli.codes import CODES
from gpuladder.errors import GpuladderError
from gpuladder.review.imports.columns import Field, column_map
from gpuladder.review.imports.dropped import Ledger
from gpuladder.review.imports.rows import TableOptions, open_table

FIELDS = (
    Field(name="team", meaning="who", also=("vc",)),
    Field(name="gpus", meaning="GPUs", also=("num_gpus",)),
    Field(name="note", meaning="anything", required=False),
)


def read(path, fields=FIELDS, **options):
    """Return the numbers of the rows kept, and the count of the others."""
    kept = []
    with open_table(path, fields, TableOptions(**options)) as table:
        for rows in table:
            gpus = rows.figures("gpus")
            rows.drop(gpus < 0, "fewer than no GPUs", "gpus")
            kept += gpus[rows.alive].tolist()
        return kept, table.ledger.result(len(kept))


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    return path


def refusal(path, **options):
    with pytest.raises(GpuladderError) as caught:
        read(path, **options)
    problems = caught.value.problems
    assert {problem.code for problem in problems} <= set(CODES)
    return "\n".join(problem.text for problem in problems)


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t"])
@pytest.mark.parametrize("packed", [False, True])
def test_delimited_text_is_known_by_its_content(tmp_path, delimiter, packed):
    """Or an export would have to be rewritten by hand before it could be read."""
    text = "vc,num_gpus\nvision,8\nspeech,2\n".replace(",", delimiter)
    content = gzip.compress(text.encode()) if packed else text.encode()
    kept, counts = read(written(tmp_path / "jobs.dat", content))
    assert kept == [8, 2]
    assert (counts.read, counts.kept, counts.dropped) == (2, 2, 0)


def test_parquet_reads_as_the_same_rows(tmp_path):
    """Or a history would depend on the form in which it was exported."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"vc": ["vision", "speech", None], "num_gpus": [8.0, None, 0.5]})
    parquet.write_table(table, tmp_path / "jobs.parquet")
    # A comma was stated for text; a number that the file holds as a number has no sign at all.
    kept, counts = read(tmp_path / "jobs.parquet", decimal=",", chunk_rows=2)
    assert kept == [8.0, 0.5]
    assert [(r.text, r.count, r.examples[0].place) for r in counts.reasons] == [
        ("`num_gpus`: empty", 1, 2)
    ]


@pytest.mark.parametrize("chunk_rows", [1, 2, 1000])
def test_every_row_is_kept_or_dropped_for_a_reason(tmp_path, chunk_rows):
    """Or GPU-hours would vanish from a history without a word."""
    text = "team,gpus\na,1\na,-2\n\nb,\na,-3\nb,4\n"
    kept, counts = read(written(tmp_path / "f.csv", text), chunk_rows=chunk_rows)
    assert kept == [1, 4]
    assert (counts.read, counts.kept, counts.dropped) == (5, 2, 3)
    reasons = {reason.text: reason for reason in counts.reasons}
    assert reasons["fewer than no GPUs"].count == 2
    # Lines count from the header's 1; the empty line 4 counts as a line and not as a row.
    assert [e.place for e in reasons["fewer than no GPUs"].examples] == [3, 6]
    assert reasons["`gpus`: empty"].examples[0].place == 5
    assert "line 3: gpus='-2'" in counts.text
    assert counts.record()["dropped"] == 3


def test_rows_that_were_lost_are_a_fault():
    """Or a slip in the program could lose GPU-hours while the counts look whole."""
    ledger = Ledger()
    ledger.rows_read = 3
    ledger.drop("no team", 1)
    assert ledger.result(2).dropped == 1
    with pytest.raises(RuntimeError, match="3 rows read, 1 kept and 1 dropped"):
        ledger.result(1)


@pytest.mark.parametrize(
    ("text", "decimal", "number", "reason"),
    [
        ("1.5", ".", 1.5, ""),
        ("1e3", ".", 1000, ""),
        ("1,5", ",", 1.5, ""),
        ("7", ",", 7, ""),
        ("1,5", ".", None, "--decimal ,"),
        ("1,234", ".", None, "--decimal ,"),
        ("1.234", ",", None, "a point in a number"),
        ("1.234,5", ",", None, "a point in a number"),
        ("1,234.5", ".", None, "--decimal ,"),
        ("1 234", ".", None, "between the thousands"),
        ("1'234", ".", None, "between the thousands"),
        ("1_234", ".", None, "between the thousands"),
        ("1.234.567", ".", None, "between the thousands"),
        ("8 GPUs", ".", None, "units are never guessed"),
        ("nan", ".", None, "not a number"),
        ("inf", ".", None, "not a number"),
        ("0x8", ".", None, "not a number"),
        ("٣", ".", None, "not a number"),
    ],
)
def test_a_number_is_read_only_one_way(tmp_path, text, decimal, number, reason):
    """Or 1,234 GPU-hours would count as one and a quarter, or the other way round."""
    path = written(tmp_path / "f.csv", f"team;gpus\na;{text}\n")
    kept, counts = read(path, decimal=decimal)
    assert kept == ([] if number is None else [number])
    assert [reason in found.text for found in counts.reasons] == ([] if number else [True])


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("", "GL-I002", "the file is empty"),
        ("\n\n", "GL-I002", "the file is empty"),
        ("team,gpus\n", "GL-I002", "a header and no row"),
        ("team,gpus\na,1\nb\n", "GL-I005", "f.csv:3: 1 values for 2 columns"),
        ("team,gpus\na,1,5\n", "GL-I005", "f.csv:2: 3 values for 2 columns"),
        ('team,gpus\n"a,1\n', "GL-I005", "not a table of delimited text"),
        ("team|gpus\na|b|1\n", "GL-I005", "JobName"),
        (b"team,gpus\nM\xfcller,1\n", "GL-I004", "not UTF-8 text (byte 0xfc"),
        ("team,gpus\na,1\n".encode("utf-16"), "GL-I004", "UTF-16"),
        (b"PK\x03\x04workbook", "GL-I004", "a workbook or archive"),
        (b"\x00\x01\x02", "GL-I004", "a binary file"),
        (gzip.compress(b"team,gpus\na,1\n" * 999, mtime=0)[:-9], "GL-I001", "cannot be read"),
        (b"\x1f\x8b\x08" + bytes(7) + b"no deflate", "GL-I001", "cannot be read"),
        (b"PAR1 and no more", "GL-I010", "a damaged Parquet file"),
        ("team,gpu\na,1\n", "GL-I003", "did you mean `gpu`?"),
        ("vc,team,gpus\na,a,1\n", "GL-I006", "--column team="),
        ("team,gpus,gpus\na,1,2\n", "GL-I006", "several columns could be `gpus`"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_clear_error(tmp_path, content, code, words):
    """Or values would be read under another column's name, or a fault shown in place of a cause."""
    text = refusal(written(tmp_path / "f.csv", content))
    assert code in text
    assert words in text
    assert str(tmp_path / "f.csv") in text


def test_a_missing_file_and_a_folder(tmp_path):
    """Or a misspelt path would end in a traceback."""
    assert "GL-I001" in refusal(tmp_path / "none.csv")
    assert "a folder" in refusal(tmp_path)


def test_columns_can_be_named(tmp_path):
    """Or a file with names of its own could not be read at all."""
    path = written(tmp_path / "f.csv", "Abteilung,GPU-Zahl,gpus\na,1,9\n")
    names = {"team": "Abteilung", "gpus": "GPU-Zahl"}
    assert read(path, columns=names)[0] == [1]
    assert "did you mean `Abteilung`?" in refusal(path, columns={"team": "Abteilunk"})
    assert "did you mean `gpus`?" in refusal(path, columns={**names, "gpu": "gpus"})


def test_a_map_of_columns_from_the_command_line_and_a_file(tmp_path):
    """Or a long map would have to be typed again every quarter."""
    file = written(tmp_path / "map.yaml", "team: Abteilung\ngpus: GPU-Zahl\n")
    assert column_map(["gpus=num_gpus"], file) == {"team": "Abteilung", "gpus": "num_gpus"}
    for wrong in (["gpus"], ["=x"], ["gpus=a", "gpus=b"]):
        with pytest.raises(GpuladderError):
            column_map(wrong)
    with pytest.raises(GpuladderError, match="not a map of columns"):
        column_map([], written(tmp_path / "list.yaml", "- team\n"))


def test_cells_of_a_spreadsheet_that_hold_nothing_do_not_count(tmp_path):
    """Or empty rows and columns that a spreadsheet leaves behind would stop the import."""
    path = written(tmp_path / "f.csv", "\ufeffteam,gpus\na,1,,\n,\n\nb,2\n")
    kept, counts = read(path)
    assert kept == [1, 2]
    assert counts.read == 2


def test_a_quote_in_what_sacct_writes_is_a_character(tmp_path):
    """Or one quote in an account's name would swallow all jobs behind it."""
    kept, _ = read(written(tmp_path / "f.txt", 'team|gpus|note\n"a|1|\nb|2|x"\n'))
    assert kept == [1, 2]


def test_notes_count_the_rows_that_stay(tmp_path):
    """Or a remark would be counted on rows that do not count themselves."""
    path = written(tmp_path / "f.csv", "team,gpus\na,1\na,-1\n")
    with open_table(path, FIELDS) as table:
        for rows in table:
            gpus = rows.figures("gpus")
            rows.note(gpus != 0, "looked at")
            rows.drop(gpus < 0, "fewer than no GPUs")
        counts = table.ledger.result(1)
    assert [(note.text, note.count) for note in counts.notes] == [("looked at", 1)]

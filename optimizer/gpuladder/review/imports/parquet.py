"""Parquet, batch by batch, as the same text cells that delimited files give."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuladder.review.imports import problems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from gpuladder.review.imports.rows import Chunk

MAGIC = b"PAR1"


class ParquetFile:
    """An open Parquet file: its columns, and its rows in chunks."""

    places = "row"

    def __init__(self, file: Any, where: str) -> None:
        from pyarrow import types

        self.where = where
        self._file = file
        schema = file.schema_arrow
        self.header = tuple(schema.names)
        self.typed = frozenset(
            field.name
            for field in schema
            if not (types.is_string(field.type) or types.is_large_string(field.type))
            and not types.is_dictionary(field.type)
        )

    def chunks(self, columns: Sequence[int], size: int) -> Iterator[Chunk]:
        """Yield the rows in chunks: places and, for each column asked for, its cells as text."""
        from pyarrow import ArrowException

        names = [self.header[index] for index in columns]
        begin = 1
        try:
            for batch in self._file.iter_batches(batch_size=size, columns=names):
                places = np.arange(begin, begin + batch.num_rows, dtype=np.int64)
                begin += batch.num_rows
                cells = {i: self._texts(batch, self.header[i]) for i in columns}
                if batch.num_rows:
                    yield places, cells
        except (ArrowException, OSError) as error:
            raise problems.parquet(self.where, f"cannot be read to its end: {error}") from error

    def _texts(self, batch: Any, name: str) -> list[str]:
        import pyarrow as pa

        column = batch.column(batch.schema.get_field_index(name))
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        try:
            texts = column.cast(pa.string())
        except pa.ArrowException as error:
            detail = f"`{name}` of type {column.type} can be read as neither text nor number"
            raise problems.parquet(self.where, detail) from error
        missing = (None, "nan") if pa.types.is_floating(column.type) else (None,)
        return ["" if text in missing else text.strip() for text in texts.to_pylist()]


@contextmanager
def open_parquet(path: Path) -> Iterator[ParquetFile]:
    """Open a Parquet file.

    Raises
    ------
    UsageError
        When pyarrow is not installed, or the file is damaged.
    """
    where = str(path)
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise problems.parquet(
            where,
            "a Parquet file, which needs the package pyarrow",
            "install gpuladder[parquet], or write the file as CSV",
        ) from error
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise problems.parquet(where, f"a damaged Parquet file: {error}") from error
    with file:
        yield ParquetFile(file, where)

"""Faults that would break a promise of ``docs/trust.md``, for ``mutants.py --promises``.

Each promise is named by the first words of its row, or of its paragraph. ``tests/test_trust.py``
holds that every row has a fault here, and that every fault can still be planted.
"""

from typing import NamedTuple


class Fault(NamedTuple):
    """A small mistake: one text of a file below ``src/greyfill`` takes the place of another."""

    what: str
    file: str
    old: str
    new: str
    tests: str
    """Those that should fail, quick ones first."""


TIES = "tests/grey/test_ties.py::"
LIMITS = "tests/grey/test_limits.py::"
CROSS = "tests/grey/test_cross_fit.py::"
RIDGE = "tests/search/test_ridge.py::"
CONTRACT = "tests/imputers/test_contract.py"
RANGE, DETERMINISM = "tests/test_exact_range.py", "tests/imputers/test_determinism.py"
ATOMIC, FAULTS = "tests/files/test_atomic.py", "tests/cli/test_faults.py"
MEMORY, NETWORK = "tests/test_memory.py", "tests/test_network.py"
CACHE, THREADS = "tests/search/test_cache.py", "tests/imputers/test_threads.py"
FIDELITY, SECURITY = "tests/files/test_fidelity.py", "tests/cli/test_security.py"
LOADING, NO_CODE = "tests/persistence/test_persistence.py", "tests/persistence/test_no_code.py"
RENDER = "tests/report/test_render.py"
HOSTILE, ODD = "tests/persistence/test_hostile.py", "tests/imputers/test_odd_inputs.py"
CHUNKED, OUTPUTS = "tests/distributed/test_chunked.py", "tests/files/test_outputs.py"

FAULTS_OF: dict[str, list[Fault]] = {
    "Any table is filled completely or refused in words": [
        Fault(
            "observed numbers come back from a rounded copy",
            "frames/decoder.py",
            "result[missing] = real_numbers(filled[missing], dtype)",
            "result[...] = real_numbers(np.round(filled, 9), dtype)",
            f"{CONTRACT}::test_container_is_kept_and_only_holes_are_written",
        ),
        Fault(
            "a hole in the first row of a frame of polars is left",
            "frames/polars_backend.py",
            "return series.zip_with(pl.Series(~missing), fills.gather(places))",
            "return series.zip_with(pl.Series(~missing), fills.gather(places).shift(1))",
            f"{CONTRACT}::test_container_is_kept_and_only_holes_are_written",
        ),
        Fault(
            "numbers of a forest leave the observed range",
            "table.py",
            "return np.asarray(np.clip(values, low, high))",
            "return values",
            f"{RANGE}::test_forests_do_not_round_out_of_the_range",
        ),
        Fault(
            "numbers of neighbors leave the observed range",
            "table.py",
            "np.clip(values, self.low, self.high, out=values)",
            "",
            f"{RANGE}::test_neighbors_do_not_round_out_of_the_range",
        ),
        Fault(
            "the next level is taken for the likeliest",
            "frames/decoder.py",
            "return boxed_array(field.levels)[codes]",
            "return boxed_array((*field.levels[1:], 'other'))[codes]",
            f"{CONTRACT}::test_model_of_a_complete_table_fills_new_rows",
        ),
        Fault(
            "the index of a frame is numbered anew",
            "frames/pandas_backend.py",
            "column.set_axis(frame.index))\n    return result",
            "column.set_axis(frame.index))\n    return result.reset_index(drop=True)",
            f"{CONTRACT}::test_container_is_kept_and_only_holes_are_written",
        ),
        Fault(
            "single precision becomes double",
            "frames/pandas_backend.py",
            "return pd.Series(cells, index=series.index, dtype=series.dtype, copy=False)",
            "return pd.Series(cells.tolist(), index=series.index)",
            f"{CONTRACT}::test_container_is_kept_and_only_holes_are_written",
        ),
        Fault(
            "the names of columns are stripped",
            "frames/polars_backend.py",
            "c.alias(names[position])",
            "c.alias(names[position].strip())",
            f"{CONTRACT}::test_names_of_columns_are_kept_as_they_are",
        ),
        Fault(
            "an infinite number is let in",
            "frames/encoder.py",
            "_refuse_infinity(values, schema.columns)",
            "len(values)",
            f"{CONTRACT}::test_wrong_tables_are_refused",
        ),
        Fault(
            "the table of the caller is filled in place",
            "frames/decoder.py",
            'result, missing = origin.container.copy(order="K"), origin.missing',
            "result, missing = origin.container, origin.missing",
            f"{CONTRACT}::test_the_result_is_a_copy",
        ),
        Fault(
            "a second fit keeps the columns of the first",
            "imputers/base.py",
            "self._schema = schema.limited(",
            "self._schema = self.__dict__.get('_schema', schema).limited(",
            f"{CONTRACT}::test_refit_on_another_table_forgets_the_first",
        ),
    ],
    "Fills stay in the exact range where float64 rounds": [
        Fault(
            "whole numbers are what float64 makes of them",
            "frames/decoder.py",
            "is_above = (whole > high)",
            "is_above = (whole > high + 2**11)",
            RANGE,
        ),
        Fault(
            "nanoseconds are what float64 makes of them",
            "frames/decoder.py",
            'return within(ticks, extent, tick, NANOSECONDS["us"]).view(dtype)',
            "return ticks.view(dtype)",
            RANGE,
        ),
        Fault(
            "moments of a zone are taken for moments of UTC",
            "frames/pandas_backend.py",
            'tz_localize("UTC").tz_convert(series.dtype.tz)',
            "tz_localize(series.dtype.tz)",
            f"{RANGE}::test_moments_of_pandas_in_every_unit_and_zone",
        ),
        Fault(
            "a regression reaches years that no library can write",
            "frames/decoder.py",
            "values = np.clip(values, min(YEARS[0], seen[0]), max(YEARS[1], seen[1]))",
            "values = values + 0.0",
            f"{RANGE}::test_moments_that_a_regression_reaches_exist",
        ),
        Fault(
            "the least of 64 bits is a moment",
            "frames/decoder.py",
            "np.maximum(whole_numbers(values, np.dtype(np.int64)), 1 - 2**63)",
            "whole_numbers(values, np.dtype(np.int64))",
            f"{RANGE}::test_spans_that_a_regression_reaches_exist",
        ),
        Fault(
            "the range is not learned beyond 64 bits",
            "frames/decoder.py",
            "min(max(round(v), extent[0]), extent[1]) for",
            "round(v) for",
            f"{RANGE}::test_integers_beyond_64_bits",
        ),
        Fault(
            "a quotient of huge and tiny numbers overflows",
            "table.py",
            "scaled = np.clip(table.values, self.low, self.high)",
            "scaled = table.values.copy()",
            f"{RANGE}::test_new_numbers_far_outside_a_tiny_range",
        ),
    ],
    "A CSV file keeps every byte but those of its holes": [
        Fault(
            "the byte order mark is lost",
            "files/inputs.py",
            "self._mark = encoding.mark",
            'self._mark = b""',
            f"{FIDELITY}::test_golden",
        ),
        Fault(
            "quotes around a hole are lost",
            "files/csv_text.py",
            "always=quoted",
            "always=False",
            f"{FIDELITY}::test_golden",
        ),
        Fault(
            "blanks after the last cell are lost",
            "files/csv_text.py",
            "yield self.body[position:]",
            "yield self.body[position:].rstrip() + b'\\n'",
            f"{FIDELITY}::test_golden",
        ),
        Fault(
            "holes are filled column by column",
            "files/csv_text.py",
            "return sorted([*fills, *ends], key=itemgetter(0))",
            "return [*fills, *ends]",
            f"{FIDELITY}::test_golden",
        ),
    ],
    "One row gives what a batch gives": [
        Fault(
            "a row without an observed cell takes the means of its batch",
            "_neighbors/new_rows.py",
            "rows = np.flatnonzero(table.missing.any(axis=1))\n",
            "values[table.missing.all(axis=1)] = values.mean(axis=0)\n"
            "    rows = np.flatnonzero(table.missing.any(axis=1) & ~table.missing.all(axis=1))\n",
            f"{CONTRACT}::test_a_row_without_an_observed_cell_gives_what_a_batch_gives",
        ),
        Fault(
            "a row of GreyImputer without an observed cell takes the means of its batch",
            "_grey/grey_engine.py",
            "values[rows, j] = fitted.donors.fills(j, predict(fitted, j, some))",
            "values[rows, j] = fitted.donors.fills(j, predict(fitted, j, some))\n"
            "        values[table.missing.all(axis=1), j] = values[:, j].mean()",
            f"{CONTRACT}::test_a_row_without_an_observed_cell_gives_what_a_batch_gives",
        ),
        Fault(
            "a model adds to a row without an observed cell what the batch predicts",
            "_grey/grey_engine.py",
            "queries = Queries.new(*open_rows(*_in_order(table), *scales))\n",
            "queries = Queries.new(*open_rows(*_in_order(table), *scales))\n"
            "    blank, cells = table.missing.all(axis=1), queries.values\n"
            "    cells[blank], queries.missing[blank, 0] = cells.mean(axis=0), len(cells) == 1\n",
            f"{CONTRACT}::test_a_row_without_an_observed_cell_gives_what_a_batch_gives",
        ),
        Fault(
            "a forest starts from the typical values of the batch",
            "_chained/missforest.py",
            "typical_values(fitted.table), table.values)",
            "typical_values(table), table.values)",
            f"{CONTRACT}::test_one_row_gives_what_a_batch_gives_in_a_wider_table",
        ),
        Fault(
            "the noise of a chain depends on the place of the row",
            "_chained/chain.py",
            "uniform(keys[rows], (first + step) * table.n_columns + j)",
            "uniform(keys[rows], (first + step) * table.n_columns + j + rows)",
            f"{CONTRACT}::test_one_row_gives_what_a_batch_gives",
        ),
        Fault(
            "a row is filled again until all rows are stable",
            "_neighbors/new_rows.py",
            "active = active[change >= max(schedule.tol, 1e-15)]",
            "active = active if change.max() >= max(schedule.tol, 1e-15) else active[:0]",
            "tests/neighbors/test_engine.py::test_one_row_is_filled_as_in_a_batch",
        ),
        Fault(
            "a chain takes the rows as they come",
            "_chained/chain.py",
            "order = row_order(table)",
            "order = np.arange(table.n_rows)",
            f"{CONTRACT}::test_order_of_rows_does_not_matter",
        ),
        Fault(
            "GreyImputer takes the rows as they come",
            "_grey/passes.py",
            "rows = rows[np.lexsort([*known_y, *keys])]",
            "rows = rows.copy()",
            f"{CONTRACT}::test_order_of_rows_does_not_matter",
        ),
    ],
    "Same table and seed, same bytes": [
        Fault(
            "a chain draws without its seed",
            "_chained/chain.py",
            "rng = np.random.default_rng(seed)",
            "rng = np.random.default_rng()",
            f"{DETERMINISM}::test_saved_files_are_equal",
        ),
        Fault(
            "a model that is made late draws without its seed",
            "_chained/chain.py",
            "np.random.default_rng([self.seed, c, j])",
            "np.random.default_rng()",
            f"{DETERMINISM}::test_late_models",
        ),
        Fault(
            "the late models of a chain share one stream of random numbers",
            "_chained/chain.py",
            "np.random.default_rng([self.seed, c, j])",
            "np.random.default_rng([self.seed, c, len(self._late)])",
            f"{DETERMINISM}::test_late_models",
        ),
        Fault(
            "the trees of a late forest depend on those before",
            "_chained/missforest.py",
            "self.grow_column(j, x, 0).forest",
            "self.grow_column(j, x, len(self._late)).forest",
            f"{DETERMINISM}::test_late_models",
        ),
        Fault(
            "the results of threads are taken as they get ready",
            "_neighbors/links.py",
            "place, part = parts[number]",
            "place, part = parts[done % len(parts)]",
            f"{DETERMINISM}::test_number_of_threads {DETERMINISM}::test_size_of_blocks",
        ),
        Fault(
            "the last block lacks a row",
            "_neighbors/links.py",
            "for start in range(0, n_rows, BLOCK_ROWS):",
            "for start in range(0, max(n_rows - 1, 1), BLOCK_ROWS):",
            f"{DETERMINISM}::test_size_of_blocks",
        ),
        Fault(
            "numbers of pandas are read in single precision",
            "frames/columns.py",
            "return series.fill_null(0).cast(nw.Float64).to_numpy()",
            "kind = nw.Float32 if series.implementation.is_pandas() else nw.Float64\n"
            "    return series.fill_null(0).cast(kind).to_numpy()",
            f"{DETERMINISM}::test_library_of_the_table",
        ),
        Fault(
            "a saved file tells when it was written",
            "persistence/archive.py",
            "zipfile.ZipInfo(name)",
            "zipfile.ZipInfo(name, __import__('time').localtime()[:6])",
            f"{DETERMINISM}::test_saved_files_are_equal {LOADING}",
        ),
        Fault(
            "a saved file tells in which order attributes were set",
            "persistence/codec.py",
            "sorted(vars(item).items())",
            "vars(item).items()",
            f"{DETERMINISM}::test_saved_files_are_equal",
        ),
        Fault(
            "a set of missing values is in the order of its hashes",
            "frames/encoder.py",
            "list(sorted_levels(missing_values))",
            "list(missing_values)",
            f"{DETERMINISM}::test_saved_files_of_other_processes_are_equal",
        ),
        Fault(
            "a saved set is in the order of its hashes",
            "persistence/codec.py",
            "sorted(nodes, key=json.dumps)",
            "nodes",
            f"{DETERMINISM}::test_saved_files_of_other_processes_are_equal",
        ),
    ],
    "Ctrl-C, SIGTERM or a full disk at any write": [
        Fault(
            "a file is not brought to the disk",
            "files/atomic.py",
            "            os.fsync(stream.fileno())\n",
            "",
            ATOMIC,
        ),
        Fault(
            "the folder is not brought to the disk",
            "files/atomic.py",
            "            os.fsync(folder)\n",
            "",
            ATOMIC,
        ),
        Fault(
            "the folder is brought to the disk before the name",
            "files/atomic.py",
            "            self._name(path, folder, replace)\n            os.fsync(folder)\n",
            "            os.fsync(folder)\n            self._name(path, folder, replace)\n",
            ATOMIC,
        ),
        Fault(
            "a draft is left after an error",
            "files/atomic.py",
            "        draft.discard()\n        raise",
            "        raise",
            ATOMIC,
        ),
        Fault(
            "only errors remove a draft, and Ctrl-C is none",
            "files/atomic.py",
            "except BaseException:\n        draft.discard()",
            "except Exception:\n        draft.discard()",
            ATOMIC,
        ),
        Fault(
            "an old file is removed before the new one is there",
            "files/atomic.py",
            "            os.fsync(stream.fileno())\n",
            "            os.fsync(stream.fileno())\n            old is None or os.unlink(path)\n",
            ATOMIC,
        ),
        Fault(
            "a report is written on the spot",
            "report/document.py",
            "put(os.path.abspath(target), [text.encode()], force=True)",
            "target.write_bytes(text.encode())",
            RENDER,
        ),
        Fault(
            "results of a comparison are written on the spot",
            "evaluation/compare.py",
            "put_parquet(self._path, self.frame(self._rows))",
            "self.frame(self._rows).write_parquet(self._path)",
            f"{FAULTS}::test_results_of_a_comparison_and_reports_are_replaced_whole",
        ),
        Fault(
            "an imputer is saved on the spot",
            "persistence/archive.py",
            "put(path, [buffer.getvalue()], force=True)",
            "path.write_bytes(buffer.getvalue())",
            f"{LOADING} {FAULTS}::test_stopped_at_every_write",
        ),
        Fault(
            "SIGTERM has the exit code of Ctrl-C",
            "cli/program.py",
            "raise typer.Exit(TERMINATED) from stop",
            "raise typer.Exit(INTERRUPTED) from stop",
            f"{FAULTS}::test_terminated_in_the_middle_of_the_work",
        ),
        Fault(
            "SIGTERM ends the program on the spot",
            "cli/program.py",
            "before = signal.signal(signal.SIGTERM, stop)",
            "before = signal.getsignal(signal.SIGTERM)",
            f"{FAULTS}::test_terminated_in_the_middle_of_the_work",
        ),
        Fault(
            "Ctrl-C has the exit code of a wrong input",
            "cli/program.py",
            "raise typer.Exit(INTERRUPTED) from stop",
            "raise typer.Exit(WRONG_INPUT) from stop",
            "tests/cli/test_program.py::test_interrupted_in_the_middle_of_writing",
        ),
    ],
    "The same for kill -9": [
        Fault(
            "a draft has a name where it needs none",
            "files/atomic.py",
            "    if _UNNAMED:\n",
            "    if not _UNNAMED:\n",
            f"{ATOMIC}::test_killed_in_mid_write",
        ),
    ],
    "A read-only installation and home, or a full disk": [
        Fault(
            "no place for a cache is an error",
            "_search/jit.py",
            "except RuntimeError:",
            "except NotImplementedError:",
            f"{CACHE}::test_no_place_for_a_cache",
        ),
        Fault(
            "a cache that cannot be written is an error",
            "_search/jit.py",
            "except Exception:  # full disks",
            "except EOFError:  # full disks",
            f"{CACHE}::test_a_disk_that_is_full",
        ),
        Fault(
            "a damaged cache is an error",
            "_search/jit.py",
            "except Exception:  # full disks",
            "except OSError:  # full disks",
            CACHE,
        ),
    ],
    "No network is needed or used": [
        Fault(
            "loading opens a socket",
            "persistence/__init__.py",
            "    tree, members = read_archive(",
            "    __import__('socket').socket().close()\n    tree, members = read_archive(",
            f"{NETWORK}::test_work_asks_for_no_address_and_needs_no_network",
        ),
        Fault(
            "a fit asks for an address",
            "imputers/estimator.py",
            "        before = dict(vars(self))\n",
            "        before = dict(vars(self))\n"
            "        __import__('socket').getaddrinfo('localhost', 80)\n",
            f"{NETWORK}::test_work_asks_for_no_address_and_needs_no_network",
        ),
        Fault(
            "a report sends a word",
            "report/document.py",
            "        target = Path(path)\n",
            "        target = Path(path)\n        socket = __import__('socket')\n"
            "        socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))\n",
            f"{NETWORK}::test_work_asks_for_no_address_and_needs_no_network",
        ),
        Fault(
            "the command opens a socket to apply an imputer",
            "cli/apply_command.py",
            "        imputer = load_model(self.model)\n",
            "        imputer = load_model(self.model)\n"
            "        __import__('socket').socket().close()\n",
            f"{NETWORK}::test_work_asks_for_no_address_and_needs_no_network",
        ),
    ],
    "Work that cannot fit in memory is refused": [
        Fault(
            "the largest limit counts",
            "checks.py",
            "return min(_limits(), default=None)",
            "return max(_limits(), default=None)",
            f"{MEMORY}::test_the_least_limit_counts",
        ),
        Fault(
            "``ulimit -v`` does not count",
            "checks.py",
            "for limit in (_machine, _container, _address_space):",
            "for limit in (_machine, _container):",
            f"{MEMORY}::test_a_limit_leaves_what_is_not_taken_yet",
        ),
        Fault(
            "pages of files do not count as free",
            "checks.py",
            "return most - used + cached",
            "return most - used",
            f"{MEMORY}::test_the_least_limit_counts",
        ),
        Fault(
            "new rows are not measured",
            "imputers/estimator.py",
            "self._refuse_too_large(opened.shape, FOR_NEW_ROWS, LESS_AT_ONCE)",
            "frames.open_table(X)",
            f"{MEMORY}::test_tables_beyond_the_free_memory_are_refused",
        ),
        Fault(
            "small tables are refused for nothing",
            "imputers/estimator.py",
            "FOR_NEW_ROWS = 28",
            "FOR_NEW_ROWS = 2800",
            f"{MEMORY}::test_estimates_are_below_what_is_needed_and_not_far_below",
        ),
        Fault(
            "the estimate is too low to refuse anything",
            "imputers/estimator.py",
            "_bytes_per_cell: ClassVar[int] = 60",
            "_bytes_per_cell: ClassVar[int] = 6",
            f"{MEMORY}::test_estimates_are_below_what_is_needed_and_not_far_below",
        ),
    ],
    "Eight threads on one fitted imputer": [
        Fault(
            "new rows are kept in the imputer while they are filled",
            "imputers/base.py",
            "filled = self._put_back(table, self._fill_table(table.select(self._kept)))",
            "self._new = origin\n"
            "            kept = self._fill_table(table.select(self._kept))\n"
            "            filled, origin = self._put_back(table, kept), self._new",
            f"{THREADS}::test_one_fitted_imputer_serves_threads_with_rows_of_their_own",
        ),
    ],
    "A saved imputer runs no code when loaded": [
        Fault(
            "arrays may hold pickles",
            "persistence/archive.py",
            "    stream = io.BytesIO(content)\n",
            "    return np.load(io.BytesIO(content), allow_pickle=True)\n"
            "    stream = io.BytesIO(content)\n",
            NO_CODE,
        ),
        Fault(
            "an archive is taken for an array",
            "persistence/archive.py",
            "    version = npy.read_magic(stream)\n",
            "    if content[:2] == b'PK':\n"
            "        return np.load(stream, allow_pickle=True)['arr_0']\n"
            "    version = npy.read_magic(stream)\n",
            NO_CODE,
        ),
        Fault(
            "a text is evaluated",
            "persistence/codec.py",
            'TextKind("float", lambda item: isinstance(item, float), repr, float)',
            'TextKind("float", lambda item: isinstance(item, float), repr, eval)',
            NO_CODE,
        ),
        Fault(
            "a file names types of any module",
            "persistence/codec.py",
            "    if name not in types:\n",
            "    if name not in types and '.' in name:\n"
            "        module, _, name = name.rpartition('.')\n"
            "        return getattr(__import__(module), name)\n"
            "    if name not in types:\n",
            f"{LOADING}::test_a_file_cannot_name_types_of_its_own",
        ),
        Fault(
            "a file replaces methods",
            "persistence/codec.py",
            "if key not in types:",
            "if key not in types and not hasattr(kind, key):",
            f"{LOADING}::test_a_file_cannot_replace_methods",
        ),
        Fault(
            "checksums are not looked at",
            "persistence/archive.py",
            'if hashlib.sha256(part).hexdigest() != manifest["sha256"][name]:',
            'if not manifest["sha256"][name]:',
            f"{LOADING}::test_parts_that_are_not_what_the_manifest_says_are_refused",
        ),
        Fault(
            "a swollen file is unpacked",
            "persistence/archive.py",
            "    if size > max_bytes:\n",
            "    if size < 0:\n",
            f"{LOADING}::test_a_zip_bomb_is_refused_before_it_unpacks",
        ),
        Fault(
            "a damaged stream is no error of ours",
            "persistence/archive.py",
            "zipfile.BadZipFile, zlib.error,",
            "zlib.error,",
            f"{LOADING}::test_foreign_files_are_refused",
        ),
        Fault(
            "a made-up tree is no error of ours",
            "persistence/codec.py",
            "except Exception as error:  # a made-up tree",
            "except KeyError as error:  # a made-up tree",
            f"{LOADING}::test_a_tree_that_makes_no_sense_is_refused",
        ),
        Fault(
            "the name of a file must end in .greyfill",
            "persistence/__init__.py",
            "    tree, members = read_archive(",
            "    if Path(path).suffix not in ('', '.greyfill'):\n"
            "        raise ValueError(path)\n    tree, members = read_archive(",
            f"{LOADING}::test_the_name_of_a_file_does_not_matter",
        ),
        Fault(
            "only a second format loads",
            "persistence/archive.py",
            "FORMATS = (1, 2)\n",
            "FORMATS = (2,)\n",
            f"{LOADING}::test_the_first_format_still_loads",
        ),
    ],
    "Any bytes as a table are read and written back": [
        Fault(
            "bytes that are no text are passed over",
            "files/inputs.py",
            "final=block is None)\n        except UnicodeDecodeError as error:\n            before",
            "final=block is None)\n        except UnicodeDecodeError as error:\n"
            "            continue\n            before",
            "tests/files/test_errors.py",
        ),
        Fault(
            "a quote that nothing closes ends with the file",
            "files/cell_grid.py",
            "if self.tokens.unclosed >= 0:",
            "if self.tokens.unclosed > 9**9:",
            "tests/files/test_errors.py",
        ),
        Fault(
            "rows may have any number of cells",
            "files/cell_grid.py",
            "        if not len(ragged):\n",
            "        if len(ragged) < 99:\n",
            "tests/files/test_errors.py",
        ),
        Fault(
            "a file that was cut off ends with a traceback",
            "files/formats.py",
            "DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, ",
            "DAMAGED = (gzip.BadGzipFile, ",
            "tests/files/test_formats.py::test_damaged_wrapping",
        ),
        Fault(
            "two columns have one name",
            "files/dialect.py",
            "        if count > 1 and self.is_strict:",
            "        if count > 2 and self.is_strict:",
            "tests/files/test_errors.py",
        ),
    ],
    "Any arguments of the command end without a traceback": [
        Fault(
            "errors of the system end with a traceback",
            "cli/program.py",
            "except (GreyfillError, OSError, MemoryError) as error:",
            "except (GreyfillError, MemoryError) as error:",
            "tests/cli/test_console.py::test_errors_of_the_system_end_with_one_line",
        ),
        Fault(
            "a lack of memory ends with a traceback",
            "cli/program.py",
            "except (GreyfillError, OSError, MemoryError) as error:",
            "except (GreyfillError, OSError) as error:",
            "tests/cli/test_console.py::test_errors_of_the_system_end_with_one_line",
        ),
        Fault(
            "rates that are no numbers end with a traceback",
            "cli/compare_command.py",
            "        except ValueError:\n",
            "        except TypeError:\n",
            "tests/cli/test_inspect.py",
        ),
        Fault(
            "a terminal without ° ends the work",
            "cli/program.py",
            'stream.reconfigure(errors="backslashreplace")',
            "stream.reconfigure()",
            "tests/cli/test_program.py::test_a_terminal_that_lacks_letters",
        ),
    ],
    "Nothing is written outside the named outputs": [
        Fault(
            "a history is kept in the folder above",
            "persistence/archive.py",
            "    put(path, [buffer.getvalue()], force=True)",
            "    put(path, [buffer.getvalue()], force=True)\n"
            '    (path.resolve().parents[1] / "history").write_bytes(b"")',
            f"{SECURITY}::test_nothing_is_written_outside_the_named_outputs",
        ),
        Fault(
            "a draft is written through a link",
            "files/atomic.py",
            'os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)',
            "os.O_WRONLY | os.O_CREAT",
            f"{SECURITY}::test_a_link_in_the_place_of_a_draft_is_not_followed",
        ),
        Fault(
            "drafts are numbered",
            "files/atomic.py",
            "secrets.token_hex(8)",
            "os.getpid()",
            f"{SECURITY}::test_names_of_drafts_cannot_be_guessed",
        ),
        Fault(
            "an existing file is replaced unasked",
            "files/atomic.py",
            "if os.path.lexists(name) and not force:",
            "if os.path.islink(name) and not force:",
            ATOMIC,
        ),
        Fault(
            "a file that appears meanwhile is replaced",
            "files/atomic.py",
            "            if not replace:\n                raise\n",
            "",
            ATOMIC,
        ),
        Fault(
            "everybody may read what replaces a private file",
            "files/atomic.py",
            "os.fchmod(descriptor, stat.S_IMODE(old.st_mode))",
            "os.fchmod(descriptor, stat.S_IMODE(old.st_mode) | 0o044)",
            f"{SECURITY}::test_outputs_keep_their_permissions",
        ),
        Fault(
            "everybody may read what will replace a private file",
            "files/atomic.py",
            "0o666 if old is None else 0o600",
            "0o666",
            ATOMIC,
        ),
        Fault(
            "a new file ignores the umask",
            "files/atomic.py",
            "            if old is not None:\n",
            "            if old is None:\n                os.fchmod(stream.fileno(), 0o666)\n"
            "            else:\n",
            f"{ATOMIC}::test_new_files_have_usual_permissions",
        ),
        Fault(
            "text becomes a formula in a workbook",
            "files/new_books.py",
            'return "write_string"',
            'return "write"',
            f"{SECURITY}::test_formulas_are_text_in_a_workbook",
        ),
        Fault(
            "a filled text becomes a formula in a workbook that stays one",
            "files/sheets.py",
            'cell.data_type = "s" if isinstance(cell.value, str) else cell.data_type',
            "cell.data_type = cell.data_type",
            "tests/files/test_sheets.py::test_text_that_looks_like_a_formula_is_written_as_text",
        ),
        Fault(
            "a note steers the terminal",
            "cli/console.py",
            '("note: ", "yellow"), clean(note, most=1000))',
            '("note: ", "yellow"), note)',
            SECURITY,
        ),
        Fault(
            "an error steers the terminal",
            "cli/console.py",
            "Text(clean(message, most=MOST_CHARACTERS), style)",
            "Text(message, style)",
            f"{SECURITY}::test_names_cannot_steer_a_terminal",
        ),
        Fault(
            "a name of a column steers the terminal",
            "cli/console.py",
            'return Text(clean(column, most=60), "cyan")',
            'return Text(column, "cyan")',
            f"{SECURITY}::test_names_cannot_steer_a_terminal",
        ),
        Fault(
            "a name of a file steers the terminal",
            "cli/console.py",
            '("wrote ", "green"), clean(name, most=4000), about)',
            '("wrote ", "green"), name, about)',
            f"{SECURITY}::test_names_cannot_steer_a_terminal",
        ),
        Fault(
            "a level of the target steers the terminal",
            "cli/inspect_command.py",
            "clean(c['name'], 30)",
            "c['name']",
            SECURITY,
        ),
    ],
    "The report escapes what it shows and loads nothing": [
        Fault(
            "names are not escaped",
            "report/document.py",
            'autoescape=select_autoescape(("html.jinja", "css.jinja"))',
            "autoescape=False",
            RENDER,
        ),
        Fault(
            "the embedded numbers end their element",
            "report/document.py",
            'for character in "<>&":',
            'for character in "&":',
            RENDER,
        ),
        Fault(
            "a plot does not escape its title",
            "report/svg.py",
            'return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)',
            'return __import__("html").unescape(ElementTree.tostring(root, encoding="unicode"))',
            RENDER,
        ),
        Fault(
            "a page loads its letters",
            "report/templates/page.html.jinja",
            "<style>{{ style }}",
            '<link rel="stylesheet" href="https://fonts.example/a.css">\n<style>{{ style }}',
            RENDER,
        ),
        Fault(
            "a page may run any script",
            "report/templates/page.html.jinja",
            "script-src '{{ script_hash }}'",
            "script-src 'unsafe-inline'",
            RENDER,
        ),
        Fault(
            "a page in a notebook is not fenced in",
            "report/document.py",
            'sandbox="allow-scripts" ',
            "",
            f"{RENDER}::test_notebook_shows_the_page_in_a_frame",
        ),
        Fault(
            "a page in a notebook ends its frame",
            "report/document.py",
            'html.escape(self.render("html"), quote=True)',
            'html.escape(self.render("html"), quote=False)',
            f"{RENDER}::test_notebook_shows_the_page_in_a_frame",
        ),
        Fault(
            "a name breaks a table of Markdown",
            "report/templates/page.md.jinja",
            'varargs | map("md") | join',
            "varargs | join",
            f"{RENDER}::test_markdown_tables_keep_their_shape",
        ),
    ],
    "Whatever the cells are": [
        Fault(
            "what a library raises is passed on",
            "frames/validation.py",
            "        if not _is_refusal(error):\n            raise\n",
            "        raise\n",
            f"{ODD}::test_refused_cells_are_named",
        ),
        Fault(
            "a null in a dictionary is a level",
            "frames/arrow_backend.py",
            "    if not nulls.any():\n",
            "    if nulls.any() or True:\n",
            f"{ODD}::test_what_has_an_answer_gets_it",
        ),
    ],
    "Finite tables and responses give finite answers": [
        Fault(
            "a range beyond the largest float is infinite",
            "table.py",
            "half = self.high * 0.5 - self.low * 0.5",
            "half = (self.high - self.low) * 0.5",
            f"{ODD}::test_finite_tables_stay_finite_and_within_their_range",
        ),
    ],
    "Levels that occur decide the cost": [
        Fault(
            "no column has too many levels",
            "_grey/donor_table.py",
            "return len(self.levels(column)) > MANY_LEVELS",
            "return False",
            "tests/grey/test_many_levels.py"
            "::test_memory_grows_with_the_rows_and_not_with_rows_times_levels",
        ),
    ],
    "Partitions of different dtypes": [
        Fault(
            "a partition is cast whatever its cells become",
            "distributed/partitions.py",
            "if cast is not None and _has_same_cells(column, cast):",
            "if cast is not None:",
            "tests/distributed/test_partition_dtypes.py",
        ),
    ],
    "Files of different types": [
        Fault(
            "the columns of other files are not looked at",
            "distributed/parquet_files.py",
            "if found.keys() != wanted.keys():",
            "if not found:",
            f"{CHUNKED}::test_a_file_with_other_columns_is_named",
        ),
    ],
    "Cells on Dask are those of one machine": [
        Fault(
            "sums depend on the order of their terms",
            "information/entropy.py",
            "rest = np.rint((steps - whole) * STEPS)",
            "rest = np.zeros_like(whole)",
            "tests/test_sums.py",
        ),
        Fault(
            "donors are filled like new rows",
            "distributed/donor_sample.py",
            "values[donors] = self.values[low:high]",
            "donors = donors[:0]",
            "tests/distributed/test_dask.py::test_any_imputer_gives_the_result_of_one_machine",
        ),
        Fault(
            "the sample lacks the ends of columns",
            "distributed/donor_sample.py",
            "return np.union1d(ranked, self.ends)",
            "return ranked",
            "tests/distributed/test_dask.py::test_a_sample_keeps_classes_ends_and_levels",
        ),
    ],
    "One `except GreyfillError` catches every refusal": [
        Fault(
            "an unfitted estimator is scikit-learn's affair",
            "checks.py",
            "        raise exceptions.NotFittedError(str(error)) from None\n",
            "        raise\n",
            "tests/test_conventions.py::test_unfitted",
        ),
    ],
    "`indicator_` is a fitted": [
        Fault(
            "the indicator knows other columns",
            "imputers/base.py",
            "np.flatnonzero(self._flagged)",
            "np.flatnonzero(~self._flagged)",
            "tests/imputers/test_indicator.py",
        ),
    ],
    "Compiled kernels are loaded from the cache only": [
        Fault(
            "a kernel outlives what it calls",
            "_search/jit.py",
            "        file._source_stamp = file._source_stamp, _sources()\n",
            "",
            f"{CACHE}::test_a_kernel_is_compiled_again_when_what_it_calls_has_changed",
        ),
        Fault(
            "damaged code is executed",
            "_search/jit.py",
            "return super()._load_data(name) if is_sealed(self._data_path(name)) else None",
            "return super()._load_data(name)",
            f"{CACHE}::test_damaged_files_are_never_executed_and_are_replaced",
        ),
        Fault(
            "code of another signature is executed",
            "_search/jit.py",
            "found is not None and found[0] == key",
            "found is not None",
            f"{CACHE}::test_code_of_another_signature_is_never_executed",
        ),
    ],
    "A lazy result or a transform": [
        Fault(
            "what lies on no worker is sent",
            "distributed/cluster.py",
            "        raise ClusterError(CLOSED)\n",
            "        pass\n",
            "tests/distributed/test_cluster.py::test_a_closed_client_is_told_in_words",
        ),
    ],
    "The local page answers its user alone": [
        Fault(
            "any token opens the page",
            "app/guard.py",
            "    return compare_digest(given.encode(), secret.encode())",
            "    return bool(given)",
            "tests/app/test_guard.py",
        ),
        Fault(
            "the page answers under any name",
            "app/guard.py",
            'if _all(headers, b"host") != [self._host]:',
            'if not _all(headers, b"host"):',
            "tests/app/test_guard.py",
        ),
        Fault(
            "other machines reach the page",
            "app/server.py",
            'bound.bind(("127.0.0.1", port))',
            'bound.bind(("0.0.0.0", port))',
            "tests/app/test_guard.py::test_no_other_machine_reaches_the_page",
        ),
        Fault(
            "an address works again",
            "app/guard.py",
            "        self._tokens = left\n",
            "",
            "tests/app/test_guard.py::test_each_address_works_once_and_for_itself",
        ),
    ],
    "A file that changes while `apply` reads it": [
        Fault(
            "a file that changed is written on",
            "files/inputs.py",
            "        self._check_unchanged(None)\n",
            "",
            "tests/files/test_batches.py::test_nothing_is_made_of_a_file_that_changes",
        ),
    ],
    "Streams that are closed": [
        Fault(
            "streams that are closed stay so",
            "cli/program.py",
            "        if getattr(sys, name) is None:\n",
            "        if name is None:\n",
            "tests/cli/test_program.py::test_streams_that_are_closed",
        ),
    ],
    "Whatever a saved file holds": [
        Fault(
            "rows with holes may reach no leaf of a C4.5 tree",
            "persistence/engine_rules.py",
            "require((np.abs(cases - 1.0) <= rules.ROUNDING).all(), ",
            "require((cases <= 1.0 + rules.ROUNDING).all(), ",
            "tests/persistence/test_literature_rules.py::test_what_no_fit_left_is_refused",
        ),
        Fault(
            "a file may ask for a machine that never ends",
            "_systems/column_models.py",
            '"max_iter": MOST_STEPS * max(len(x), 100)}',
            '"max_iter": -1}',
            "tests/persistence/test_literature_rules.py::test_what_a_file_may_ask_of_a_model_ends",
        ),
        Fault(
            "means of ranks cannot be saved",
            "persistence/engine_rules.py",
            "np.where(is_rank, np.rint(values), values)",
            "values",
            f"{LOADING}::test_round_trip_of_ordered_levels",
        ),
        Fault(
            "types are not compared with those declared",
            "persistence/codec.py",
            "values[key] = conform(self.node(part), types[key], where)",
            "values[key] = self.node(part)",
            HOSTILE,
        ),
        Fault(
            "records follow no rule",
            "persistence/codec.py",
            "        check_record(record)\n",
            "",
            HOSTILE,
        ),
        Fault(
            "codes of no level pass",
            "persistence/record_rules.py",
            "(codes >= 0) & (codes < max(n_levels, 1))",
            "(codes >= 0)",
            HOSTILE,
        ),
        Fault(
            "a child may stand before its parent",
            "persistence/engine_rules.py",
            "(children > inner).all()",
            "(children >= 0).all()",
            HOSTILE,
        ),
        Fault(
            "estimators are taken as they come",
            "persistence/codec.py",
            "        check_estimator(imputer)\n",
            "",
            HOSTILE,
        ),
        Fault(
            "JSON may hold any number of values",
            "persistence/archive.py",
            "if nodes > NODES + NODES_PER_BYTE * archive.getinfo(name).compress_size:",
            "if nodes < 0:",
            f"{HOSTILE}::test_values_beyond_what_the_packed_size_accounts_for_are_refused",
        ),
        Fault(
            "a device is read to its end",
            "persistence/archive.py",
            "    if not stat.S_ISREG(mode):\n",
            "    if stat.S_ISLNK(mode):\n",
            f"{HOSTILE}::test_a_pipe_is_no_model {HOSTILE}::test_a_device_is_no_model",
        ),
    ],
    "Every name of a codec": [
        Fault(
            "codecs that are none of text files are tried",
            "files/inputs.py",
            "        if codec in _NO_FILES:\n            raise LookupError\n",
            "",
            "tests/files/test_errors.py"
            "::test_every_encoding_that_python_knows_is_obeyed_or_refused",
        ),
    ],
    "A symbolic link is followed where you name it": [
        Fault(
            "a link that is named is replaced",
            "files/atomic.py",
            "_replacing(os.path.realpath(name), force)",
            "_replacing(os.path.abspath(name), force)",
            f"{SECURITY}::test_links_that_are_named_lead_where_they_point",
        ),
    ],
    "No file is written twice": [
        Fault(
            "names are compared letter by letter",
            "files/atomic.py",
            "            if _are_one_output(output.name, other.name):\n",
            "            if output.name == other.name:\n",
            OUTPUTS,
        ),
    ],
    "`--chunked --force` replaces only a folder of Parquet files": [
        Fault(
            "any folder is replaced",
            "files/atomic.py",
            "            if not name.lower().endswith(tuple(endings)):\n",
            "            if not name:\n",
            f"{CHUNKED}::test_no_folder_is_replaced_that_holds_the_input_or_other_files",
        ),
        Fault(
            "an output that appears during a run is replaced",
            "distributed/partial_output.py",
            "        self._check_output()\n        with naming(os.fspath(self.out)",
            "        with naming(os.fspath(self.out)",
            f"{CHUNKED}::test_what_comes_to_stand_at_the_output_during_a_run_stays",
        ),
        Fault(
            "any folder is taken for that of a run",
            "distributed/partial_output.py",
            'if isinstance(plan, dict) and plan.get("maker") == MAKER:',
            "if isinstance(plan, dict):",
            f"{CHUNKED}::test_a_folder_that_no_run_made_is_refused_and_stays",
        ),
    ],
    "A new workbook holds every observed cell": [
        Fault(
            "numbers of many digits are written as floats",
            "files/new_books.py",
            "return bool((column.cast(pl.Float64).abs() < 10.0**MOST_DIGITS).all())",
            "return True",
            "tests/files/test_new_books.py::test_what_excel_would_change_is_text_and_told",
        ),
        Fault(
            "what the library leaves out is not noticed",
            "files/new_books.py",
            "if write(row + 1, place, exact, yellow if row in holes else plain):",
            "if write(row + 1, place, exact, yellow if row in holes else plain) and not row + 1:",
            "tests/files/test_new_books.py",
        ),
    ],
    "Cells of JSON stand in their own rows": [
        Fault(
            "cells follow each other whatever their rows are called",
            "files/json_formats.py",
            "[cells.get(row) for row in rows]",
            "[*cells.values()]",
            "tests/files/test_json.py::test_rows_of_columns_are_found_by_their_names",
        ),
        Fault(
            "truths become numbers",
            "files/json_formats.py",
            "    if isinstance(cell, bool):\n",
            "    if cell is bool:\n",
            "tests/files/test_json.py::test_cells_that_would_change_are_refused",
        ),
    ],
    "`greyfill.scan` gives each file's cells": [
        Fault(
            "columns are taken in the order of their file",
            "distributed/parquet_files.py",
            "[_cast(table[field.name], field, path) for field in schema]",
            "[_cast(table[i], field, path) for i, field in enumerate(schema)]",
            "tests/distributed/test_lazy_tables.py::test_columns_of_another_order_keep_their_names",
        ),
    ],
    "Devices, pipes and open streams": [
        Fault(
            "a pipe is replaced by a file",
            "files/atomic.py",
            "return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)",
            "return stat.S_ISCHR(mode)",
            "tests/cli/test_outputs.py::test_pipes_and_devices_stay_what_they_are",
        ),
    ],
    "`GreyImputer` tunes in `fit` alone": [
        Fault(
            "a column is tuned when it is first needed",
            "_grey/grey_engine.py",
            "choice = replace(untuned, borrows=borrows)",
            "choice = self.choices.setdefault(target, replace(untuned, borrows=borrows))",
            "tests/grey/test_state.py::test_no_use_changes_what_was_fitted",
        ),
    ],
    'No training row sees its own label with `labels="cross"`': [
        Fault(
            "a row counts in its own class probabilities",
            "_grey/cross_fit.py",
            "outcomes, found = predictor.predict(choice.panel, queries, leave_out=True)",
            "outcomes, found = predictor.predict(choice.panel, queries)",
            CROSS + "test_a_training_row_is_filled_like_a_new_row_of_a_fit_without_it",
        ),
        Fault(
            "a row is predicted with its own y",
            "_grey/cross_fit.py",
            "queries = Queries.of(donors, _first_alike(fitted)[rows]).without(y)",
            "queries = Queries.of(donors, _first_alike(fitted)[rows])",
            CROSS + "test_a_label_that_changes_leaves_the_fills_of_its_row",
        ),
        Fault(
            "the donors' holes are filled with y",
            "_grey/passes.py",
            "plain = _without_y(donors, p) if crosses else donors",
            "plain = donors",
            CROSS + "test_no_label_touches_the_fills_of_donors",
        ),
        Fault(
            "the donors' holes start at the means of their class",
            "_grey/passes.py",
            "0 * codes if settings.crosses else splitting(codes)",
            "splitting(codes)",
            CROSS + "test_no_label_touches_the_fills_of_donors",
        ),
        Fault(
            "rows that are no donors see their label",
            "_grey/grey_engine.py",
            "known = None if y is None or fitted.crosses else y[others]",
            "known = None if y is None else y[others]",
            CROSS + "test_rows_that_are_no_donors_do_not_see_their_label",
        ),
        Fault(
            "a row of a class-wise method is a donor of its own label",
            "_neighbors/new_rows.py",
            "queries = QueryRows(rows, values[rows], missing[rows], own[rows])",
            "queries = QueryRows(rows, values[rows], missing[rows], own[rows] * 0 - 1)",
            "tests/neighbors/test_cross_labels.py::"
            "test_a_training_row_is_filled_like_a_new_row_among_the_others",
        ),
        Fault(
            "a row of a class-wise method gives to itself",
            "_neighbors/new_rows.py",
            "own = places_among(pool.givers, queries.own_rows)",
            "own = queries.own_rows * 0 - 1",
            "tests/neighbors/test_cross_labels.py::"
            "test_a_training_row_is_filled_like_a_new_row_among_the_others",
        ),
        Fault(
            "an explanation takes the label that the fill did not see",
            "_grey/contributions.py",
            "return _contributions(fitted, without_own_y(fitted, where), target)",
            "return _contributions(fitted, Queries.of(fitted.donors, where), target)",
            CROSS + "test_an_explanation_gives_the_fill_that_is_shown",
        ),
    ],
    "Donors that are equally near": [
        Fault(
            "they stand in the order of what they hold",
            "_grey/passes.py",
            "np.random.default_rng([settings.random_state or 0, *ORDER]).permutation(rows)",
            "rows",
            TIES + "test_fills_are_the_mean_of_rows_that_are_equally_near",
        ),
        Fault(
            "rows that are alike are told apart by their places",
            "_grey/cross_fit.py",
            "_first_alike(fitted)[rows]",
            "rows",
            TIES + "test_rows_that_are_alike_are_filled_alike_in_any_order",
        ),
        Fault(
            "rows that differ by their class stand as they came to a classifier",
            "_grey/grey_engine.py",
            "order = np.lexsort([extra for extra in (labels, response) if extra is not None])",
            "order = np.arange(table.n_rows)",
            TIES + "test_a_classifier_knows_no_order_of_rows_that_differ_by_their_class",
        ),
        Fault(
            "their order is that of the held-out folds",
            "_grey/passes.py",
            "[settings.random_state or 0, *ORDER]",
            "settings.random_state",
            "tests/imputers/test_grey.py::test_intervals_hold_what_they_promise",
        ),
    ],
    "`GreyImputer` keeps its limits": [
        Fault(
            "tuning goes on when its time is over",
            "_grey/passes.py",
            'how = "log" if of_class else "square", until, discriminates and of_class',
            'how = "log" if of_class else "square", np.inf, discriminates and of_class',
            LIMITS + "test_without_time_only_the_first_kinds_are_tried_and_that_is_told",
        ),
        Fault(
            "all rows are donors",
            "_grey/passes.py",
            "capped(of_rows, len(rows), settings.max_donors, settings.random_state)",
            "capped(of_rows, len(rows), None, settings.random_state)",
            LIMITS + "test_a_sample_of_donors_fills_all_rows_with_the_help_of_their_labels",
        ),
        Fault(
            "rows that are no donors are filled without their labels",
            "_grey/grey_engine.py",
            "known = None if y is None or fitted.crosses else y[others]",
            "known = None",
            LIMITS + "test_a_sample_of_donors_fills_all_rows_with_the_help_of_their_labels",
        ),
        Fault(
            "the callback is saved",
            "imputers/grey.py",
            '_unsaved = (*BaseImputer._unsaved, "_response", "progress")',
            '_unsaved = (*BaseImputer._unsaved, "_response")',
            LIMITS + "test_the_callback_is_cloned_and_not_saved",
        ),
    ],
    "The quick kernels of `GreyImputer`": [
        Fault(
            "a row is its own donor",
            "_search/lists.py",
            "out[own] = FAR",
            "out[own] += 0.0",
            RIDGE + "test_lists_of_neighbors_equal_the_reference",
        ),
        Fault(
            "a regression reads what the row lacks",
            "_search/ridge.py",
            "slope -= vectors[SOLVED, a] * slopes[lacking[a], t]",
            "slope -= 0.0",
            RIDGE + "test_common_regressions_equal_the_reference",
        ),
        Fault(
            "a row without its label sweeps with the first class",
            "_search/lists.py",
            "if q == 0 or sources[q] != sources[q - 1]:",
            "if q == 0:",
            RIDGE + "test_lists_of_neighbors_equal_the_reference",
        ),
        Fault(
            "a pool measures a class by its own extremes",
            "_grey/predictor.py",
            'extremes = self._extremes(queries) if scope == "split" else None',
            "extremes = None",
            LIMITS + "test_a_pool_of_many_donors_gives_what_the_sweep_of_few_gives",
        ),
    ],
    "The method is `grey`": [
        Fault(
            "the paper's method is the default",
            "imputers/registry.py",
            'DEFAULT = "grey"',
            'DEFAULT = "cgknn"',
            "tests/cli/test_impute.py::test_grey_is_the_method_with_and_without_a_target",
        ),
    ],
    "`compare` runs four quick methods": [
        Fault(
            "methods that need labels run without them",
            "evaluation/compare.py",
            " if are_labels or not REGISTRY[m].needs_labels",
            "",
            "tests/evaluation/test_compare.py::test_four_quick_methods_by_default_grey_first",
        ),
    ],
    "A callback of progress is called": [
        Fault(
            "every step is told",
            "progress.py",
            "is_last or now - self._told >= LEAST_SECONDS",
            "True",
            "tests/test_progress.py"
            "::test_at_most_twenty_calls_a_second_but_for_the_last_of_a_stage",
        ),
    ],
    "Compiled code in a folder that cannot be written": [
        Fault(
            "only folders that can be written are read",
            "_search/jit.py",
            "_OptionalStep(load), _OptionalStep(self._load_shared)",
            "_OptionalStep(load),",
            "tests/search/test_cache.py"
            "::test_a_folder_of_compiled_code_that_can_only_be_read_is_used",
        ),
    ],
    "The short way of new rows": [
        Fault(
            "names are not compared",
            "imputers/estimator.py",
            "names is None and opened.shape[1] == self.n_features_in_",
            "opened.shape[1] == self.n_features_in_",
            "tests/imputers/test_odd_inputs.py"
            "::test_the_short_way_of_new_rows_ends_where_the_long_way_does",
        ),
        Fault(
            "holes of a short column are read as cells",
            "frames/polars_backend.py",
            " and series.null_count() == 0",
            "",
            "tests/test_frames.py::test_short_columns_are_read_as_by_narwhals",
        ),
    ],
    "One rule says whether y is classes": [
        Fault(
            "categories of fractions are a response",
            "targets.py",
            "if meaning is Meaning.RESPONSE and are_categories(y):",
            "if meaning is Meaning.NONE and are_categories(y):",
            "tests/test_targets.py::test_the_rule",
        ),
        Fault(
            "a report calls scattered numbers classes",
            "report/evidence.py",
            "read_target(y, needs_classes=get_tags(imputer).target_tags.required)",
            "read_target(y, needs_classes=True)",
            "tests/test_targets.py::test_report_and_imputer_give_one_answer",
        ),
    ],
    "So is it on other systems": [
        Fault(
            "the share in use is taken for what is free",
            "checks.py",
            "return int(virtual_memory().available)",
            "return int(virtual_memory().percent)",
            f"{MEMORY}::test_other_systems_tell_what_is_free_by_psutil",
        ),
    ],
    "A mistake in the call": [
        Fault(
            "options load scipy",
            "jobs/options.py",
            'K, LABELS, SAVE = "--k", "--labels", "--save"',
            'import scipy\n\nK, LABELS, SAVE = "--k", "--labels", "--save"',
            "tests/cli/test_options.py::test_a_mistake_is_answered_before_anything_heavy_is_loaded",
        ),
    ],
    "Every command that reads a table": [
        Fault(
            "sensitivity loses --numeric",
            "cli/sensitivity_command.py",
            "    job: ShiftJob, table: TableOptions, choice",
            '    job: ShiftJob, table: Annotated[TableOptions, o.Without(("numeric",))], choice',
            "tests/cli/test_options.py::"
            "test_every_command_that_reads_a_table_has_all_options_about_its_columns",
        ),
    ],
    "`greyfill impute` encodes a table once": [
        Fault(
            "the table is encoded for the imputer again",
            "opened_fill.py",
            "imputer._fit_opened(X, self._y, self._opened)",
            "imputer.fit_transform(X, self._y)",
            "tests/cli/test_impute.py::test_a_table_is_encoded_once",
        ),
    ],
    "Every list of methods agrees with the registry": [
        Fault(
            "MICE has no draws",
            "imputers/registry.py",
            'model of its column.",\n           class_uses=("predictor",), draws=True',
            'model of its column.",\n           class_uses=("predictor",)',
            "tests/test_registry.py::test_rows_tell_the_truth",
        ),
    ],
    "The names of the methods load no engine": [
        Fault(
            "the registry loads scikit-learn",
            "imputers/registry.py",
            "from collections import UserDict",
            "import sklearn\nfrom collections import UserDict",
            "tests/test_registry.py::test_names_alone_load_no_engine",
        ),
    ],
    "A report is rendered whatever is unknown": [
        Fault(
            "an uncertainty is always known",
            "report/templates/sections.html.jinja",
            "[c.uncertainty or 0, 1] | min",
            "[c.uncertainty, 1] | min",
            "tests/report/test_unknown.py::test_a_page_needs_no_place_that_may_be_none",
        ),
    ],
    "Identifiers, row numbers, free text and constants": [
        Fault(
            "an identifier predicts other columns",
            "imputers/base.py",
            "            table = table.mute(self.unused_)\n",
            "",
            "tests/test_exclusion.py::test_identifiers_predict_nothing",
        ),
        Fault(
            "a column that is left alone is filled",
            "opened_fill.py",
            "        imputer.leave_alone = self.left_alone\n",
            "",
            "tests/cli/test_leave_alone.py::test_identifiers_stay_as_they_are",
        ),
    ],
    "Limits of `GreyImputer.intervals` hold in each class": [
        Fault(
            "residuals of all classes count alike",
            "_grey/calibration.py",
            "raw = np.where(own, 1.0, lacking)",
            "raw = np.ones(own.shape)",
            "tests/grey/test_uncertainty.py::test_each_class_has_the_quantile_of_its_own_residuals",
        ),
    ],
    "Draws are the same in one process and in several": [
        Fault(
            "a distribution depends on the process that draws it",
            "_joint/joint_model.py",
            "rng, rows = np.random.default_rng(seed), np.arange(len(z))",
            "rng, rows = np.random.default_rng(__import__('os').getpid()), np.arange(len(z))",
            f"{DETERMINISM}::test_draws_of_several_processes",
        ),
        Fault(
            "a chain depends on the process that runs it",
            "_chained/chain.py",
            "rng = np.random.default_rng(seed)",
            "rng = np.random.default_rng(__import__('os').getpid())",
            f"{DETERMINISM}::test_draws_of_several_processes",
        ),
    ],
    "Levels that are folded": [
        Fault(
            "an observed cell takes the spelling of its level",
            "folds.py",
            "before[name].zip_with(~_is_hole(before[name], words), after[name])",
            "after[name]",
            "tests/test_filled.py"
            "::test_levels_that_differ_by_blanks_and_capitals_are_one_for_the_fill_alone",
        ),
    ],
    "`--strict` guesses nothing": [
        Fault(
            "a title is looked for",
            "files/csv_text.py",
            "        if options.strict:\n            return Preamble()\n",
            "",
            "tests/corpus/test_corpus.py::test_strict_reading_guesses_nothing",
        ),
        Fault(
            "words for missing are guessed",
            "files/column_types.py",
            "return 0 if self._strict else self._words.counts.total()",
            "return self._words.counts.total()",
            "tests/files/test_column_types.py",
        ),
    ],
    "A carriage return alone": [
        Fault(
            "nothing is told of one",
            "files/cell_grid.py",
            "        if self.n_returns:\n",
            "        if self.n_returns > 9:\n",
            f"{FIDELITY}::test_a_carriage_return_alone_is_a_letter_and_told",
        ),
        Fault(
            "a strict reader takes it for a letter",
            "files/cell_grid.py",
            "if header.is_strict and len(returns := grid.lone_returns()):",
            "if header.is_strict and len(returns := grid.lone_returns()) > 9:",
            f"{FIDELITY}::test_a_carriage_return_alone_is_a_letter_and_told",
        ),
    ],
    "Every guess about a file can be taken back": [
        Fault(
            "a question that was answered is gone",
            "app/questions.py",
            'if question["key"] not in known and is_answered:',
            'if question["key"] in known and is_answered:',
            "tests/app/test_session.py"
            "::test_every_guess_and_finding_can_be_answered_and_taken_back",
        ),
    ],
    "An unfinished run of `--chunked`": [
        Fault(
            "a run with other settings is continued",
            "distributed/partial_output.py",
            "if self._found_run() != fingerprint:",
            "if self._found_run() is None:",
            f"{CHUNKED}::test_other_settings_do_not_continue_an_unfinished_run",
        ),
        Fault(
            "partitions that are there are written again",
            "distributed/partial_output.py",
            'return not (self.folder / "parts" / partition.name).exists()',
            "return True",
            f"{CHUNKED}::test_a_crash_while_writing_is_resumed",
        ),
        Fault(
            "long settings are told apart by their beginning",
            "distributed/parquet.py",
            "repr(settings)]",
            "repr(imputer)]",
            f"{CHUNKED}::test_every_setting_tells_runs_apart",
        ),
    ],
    "`worth` judges by rows": [
        Fault(
            "inner folds hold rows that the outer fold tests",
            "evaluation/worth.py",
            "inner_of[train] = stratified_folds(self._strata[train], self.n_inner, seed)",
            "inner_of = stratified_folds(self._strata, self.n_inner, seed)",
            "tests/evaluation/test_worth.py::test_inner_folds_stay_within_the_training_rows",
        ),
        Fault(
            "an imputer learns from rows that are tested",
            "evaluation/pipelines.py",
            "        return self.task.table.rows(self.is_train)",
            "        return self.task.table.rows(self.is_train | self.is_test)",
            "tests/evaluation/test_worth.py::test_no_label_of_a_test_row_reaches_a_prediction",
        ),
        Fault(
            "the outer folds choose",
            "evaluation/verdict.py",
            "inner = self._scores(self.metric, inner=True)[:, places]",
            "inner = self._scores(self.metric, inner=False)[:, places]",
            "tests/evaluation/test_worth.py::test_inner_folds_choose_and_outer_folds_judge",
        ),
    ],
}

"""The tokenizer, compiled or not, finds what its slow twin and Python's csv module find."""

import csv
import io

import numpy as np
import pytest
from files.csv_reference import slow_content, slow_tokenize
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from greyfill.files import tokens
from greyfill.files.sample import BLANKS, cut, line_end
from greyfill.files.tokens import contents, tokenize

TIDY = tokens._tokenize_tidy

MANY = settings(
    max_examples=max(300, settings.default.max_examples),
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # all examples share its choice
)
TEXTS = st.text(st.sampled_from('ab1,;"\n\r é'), max_size=40).map(str.encode)
# Older versions of the csv module write a lone CR without quotes, so none is asked for.
WORDS = st.text(st.characters(exclude_characters="\0\r", codec="utf-8"), max_size=9)


@pytest.fixture(params=["compiled", "tidy", "plain"], autouse=True)
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts of any size go to the compiled functions, to numpy if they are tidy, or to neither."""
    monkeypatch.setattr(tokens, "SMALL", 2**30 if request.param == "plain" else -1)
    if request.param != "tidy":
        monkeypatch.setattr(tokens, "_tokenize_tidy", lambda *_: None)
        monkeypatch.setattr(tokens, "_join_tidy", lambda *_: np.array([tokens.QUOTE]))


@MANY
@given(body=st.text(st.sampled_from('a,""\n\r'), min_size=1, max_size=30).map(str.encode))
def test_tidy_texts_need_no_compiler(body: bytes) -> None:
    for newline in b"\n\r":
        slow = tokens._tokenize_bytes(body, ord(","), newline)
        found = TIDY(np.frombuffer(body, np.uint8), ord(","), newline)
        if found is not None:
            assert [*map(list, found[:3]), found[3]] == [*map(list, slow[:3]), slow[3]]


@pytest.mark.parametrize(
    ("body", "is_tidy"),
    [(b'"a","b"\n"c,""d","\n"\n', True), (b'a,"b', True), (b'a "b",c', False), (b'"a"b"c"', False)],
)
def test_which_texts_are_tidy(body: bytes, is_tidy: bool) -> None:
    assert (TIDY(np.frombuffer(body, np.uint8), ord(","), 10) is not None) == is_tidy


@MANY
@given(body=TEXTS, delimiter=st.sampled_from(",;"))
def test_equals_reference(body: bytes, delimiter: str) -> None:
    tokens = tokenize(body, delimiter)
    try:
        records = slow_tokenize(body, delimiter.encode(), bytes([line_end(body)]))
    except ValueError:
        assert tokens.unclosed >= 0
        assert body[tokens.unclosed] == ord('"')
        return
    assert tokens.unclosed == -1
    cells = [body[s:e] for s, e in zip(tokens.starts, tokens.ends, strict=True)]
    assert cells == [cell for record in records for cell in record]
    assert np.diff(tokens.firsts).tolist() == [len(record) for record in records]
    texts = [slow_content(cell).decode() for cell in cells]
    assert contents(body, tokens.starts, tokens.ends) == texts


@MANY
@given(
    rows=st.lists(st.lists(WORDS, min_size=2, max_size=4), min_size=1, max_size=6),
    newline=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_reads_what_the_csv_module_writes(
    rows: list[list[str]], newline: str, quoting: int
) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator=newline, quoting=quoting).writerows(rows)
    body = out.getvalue().encode()
    tokens = tokenize(body, ",")
    texts = iter(contents(body, tokens.starts, tokens.ends))
    assert [[next(texts) for _ in range(n)] for n in np.diff(tokens.firsts)] == rows


@pytest.mark.parametrize(
    ("body", "cells"),
    [
        (b"", []),
        (b"a", [["a"]]),
        (b"a,", [["a", ""]]),
        (b"a,\n", [["a", ""]]),
        (b"\n\n", [[""], [""]]),
        (b"a\rb\r", [["a"], ["b"]]),
        (b'"a\r\nb",c\r\n', [["a\r\nb", "c"]]),
        (b'"a"b,c', [["ab", "c"]]),
        (b'5" pipe,""""', [['5" pipe', '"']]),
    ],
)
def test_corner_cases(body: bytes, cells: list[list[str]]) -> None:
    tokens = tokenize(body, ",")
    texts = iter(contents(body, tokens.starts, tokens.ends))
    assert [[next(texts) for _ in range(n)] for n in np.diff(tokens.firsts)] == cells


@MANY
@given(body=TEXTS, delimiter=st.sampled_from([",", ";", BLANKS]), newline=st.sampled_from(b"\n\r"))
def test_a_sample_is_cut_like_the_text(body: bytes, delimiter: str, newline: int) -> None:
    found = tokenize(body, delimiter, newline)
    whole, _ = tokens.complete_tokens(found, body, newline)
    records = cut(body, delimiter, newline)
    assert [record.start for record in records] == found.starts[found.firsts[:-1]].tolist()
    assert [record.is_blank for record in records] == found.is_blank.tolist()
    assert sum(record.is_whole for record in records) == len(whole.firsts) - 1
    n_cells = int(found.firsts[-1])
    texts = contents(body, found.starts[:n_cells], found.ends[:n_cells])
    assert [text for record in records for text in record.texts] == texts

"""What holds of frame sampling and of the mixture's counts."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.metrics.sampling import Policy, allocate, choose_frames

POLICIES: st.SearchStrategy[Policy] = st.sampled_from(("first_n", "uniform_n"))
WEIGHTS = st.lists(st.integers(0, 20), min_size=1, max_size=4).filter(any)
ALPHA = {"AR": 0.8, "CR": 0.2}
BETA = {"binary": 0.15, "multiple_choice": 0.05, "open_ended": 0.8}


def named(parts: list[int]) -> dict[str, float]:
    return {f"k{i}": part / sum(parts) for i, part in enumerate(parts)}


@given(st.integers(0, 300), st.integers(0, 300), POLICIES)
def test_frames_are_distinct_rising_and_as_many_as_the_clip_allows(
    length: int, n: int, policy: Policy
) -> None:
    frames = choose_frames(length, n, policy)

    assert len(frames) == min(n, length)
    assert list(frames) == sorted(set(frames))
    assert all(0 <= frame < length for frame in frames)


@given(st.integers(2, 300), st.integers(2, 300))
def test_uniform_frames_run_from_the_first_to_the_last(length: int, n: int) -> None:
    frames = choose_frames(length, n, "uniform_n")

    assert (frames[0], frames[-1]) == (0, length - 1)


@given(st.integers(1, 300))
def test_a_single_uniform_frame_is_the_first(length: int) -> None:
    assert choose_frames(length, 1, "uniform_n") == (0,)


def test_the_middle_of_fourteen_frames_is_rounded_up() -> None:
    assert choose_frames(14, 3, "uniform_n") == (0, 7, 13)


def test_a_negative_number_of_frames_is_refused() -> None:
    with pytest.raises(ValueError, match="-1 are wanted"):
        choose_frames(14, -1, "first_n")


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="'last_n'"):
        choose_frames(14, 8, "last_n")  # type: ignore[arg-type]


@given(st.integers(0, 10_000), WEIGHTS, WEIGHTS)
def test_counts_add_up_and_miss_their_exact_share_by_less_than_one(
    n: int, tasks: list[int], formats: list[int]
) -> None:
    shares = allocate(n, named(tasks), named(formats))

    exact = [
        n * Fraction(t, sum(tasks)) * Fraction(f, sum(formats)) for t in tasks for f in formats
    ]
    assert sum(share.count for share in shares) == n
    assert all(
        abs(share.count - fair) < 1 + 1e-6 for share, fair in zip(shares, exact, strict=True)
    )


@given(st.integers(0, 1000))
def test_the_order_of_the_weights_does_not_change_the_counts(n: int) -> None:
    alpha, beta = dict(reversed(ALPHA.items())), dict(reversed(BETA.items()))

    assert set(allocate(n, alpha, beta)) == set(allocate(n, ALPHA, BETA))


def test_remainders_that_are_equal_as_decimals_tie() -> None:
    shares = allocate(10, ALPHA, BETA)

    # 0.4 and 6.4: in binary floating point the second remainder is a bit larger and would win.
    assert {share.key: share.count for share in shares} == {
        "AR/binary": 1,
        "AR/multiple_choice": 1,
        "AR/open_ended": 6,
        "CR/binary": 0,
        "CR/multiple_choice": 0,
        "CR/open_ended": 2,
    }


def test_equal_remainders_go_by_name() -> None:
    shares = allocate(1, {"b": 0.5, "a": 0.5}, {"x": 1.0})

    assert {share.key: share.count for share in shares} == {"a/x": 1, "b/x": 0}


def test_weights_written_with_rounding_still_share_evenly() -> None:
    third = 1 / 3

    shares = allocate(3, {"a": third, "b": third, "c": third}, {"x": 1.0})

    assert [share.count for share in shares] == [1, 1, 1]


@pytest.mark.parametrize("alpha", [{"AR": 0.5}, {}, {"AR": 1.5, "CR": -0.5}, {"AR": float("nan")}])
def test_weights_that_are_no_mixture_are_refused(alpha: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="task weight"):
        allocate(10, alpha, BETA)


def test_a_negative_total_is_refused() -> None:
    with pytest.raises(ValueError, match="-5 questions"):
        allocate(-5, ALPHA, BETA)

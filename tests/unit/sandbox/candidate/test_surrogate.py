from itertools import product

import numpy as np

from sandbox.candidate.surrogate import LENGTHS, Surrogate

POINTS = np.asarray(list(product(np.linspace(0, 1, 6), repeat=3)))
SOME = list(range(0, len(POINTS), 5))
REST = np.asarray([i for i in range(len(POINTS)) if i not in SOME])


def learnt(values: np.ndarray) -> Surrogate:
    model = Surrogate(POINTS)
    model.learn(SOME, values[SOME])
    return model


def test_it_foretells_a_smooth_function_and_says_how_far_it_may_be_off() -> None:
    values = np.sin(3 * POINTS[:, 0]) + POINTS[:, 1] ** 2
    values = (values - values.mean()) / values.std()
    mean, deviation = learnt(values).foretell(values[SOME], REST)
    assert np.abs(mean - values[REST]).max() < 0.5
    assert np.corrcoef(mean, values[REST])[0, 1] > 0.98
    assert (np.abs(mean - values[REST]) <= 4 * deviation + 0.05).mean() > 0.95


def test_what_was_asked_is_known_and_what_lies_far_away_is_not() -> None:
    values = np.sin(5 * POINTS[:, 0]) * np.cos(5 * POINTS[:, 1]) + np.sin(5 * POINTS[:, 2])
    model = Surrogate(POINTS)
    corner = [0, 1, 6, 36]
    model.learn(corner, values[corner])
    mean, deviation = model.foretell(values[corner], np.asarray([0, len(POINTS) - 1]))
    assert abs(mean[0] - values[0]) < 0.1
    assert deviation[1] > 3 * deviation[0]


def test_a_coordinate_that_does_not_matter_gets_the_longest_lengths() -> None:
    values = np.sin(4 * POINTS[:, 0]) + np.cos(3 * POINTS[:, 1])
    mean, _ = learnt(values).foretell(values[SOME], np.arange(len(POINTS)))
    along = mean.reshape(6, 6, 6)
    assert np.ptp(along, axis=2).max() < 0.2 * np.ptp(along, axis=0).max()
    assert LENGTHS[-1] > 100


def test_refusals_teach_where_refusals_are() -> None:
    accepted = (POINTS[:, 0] < 0.5).astype(float)
    chance = Surrogate(POINTS).chance(SOME, accepted[SOME], REST)
    assert chance[accepted[REST] == 1].mean() > 2 * chance[accepted[REST] == 0].mean()
    assert 0 < chance.min() <= chance.max() <= 1

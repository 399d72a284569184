from __future__ import annotations

import threading

from sandbox.recent import Recent


def test_what_was_used_last_is_kept_and_made_once() -> None:
    keys: list[str] = []

    def make(key: str) -> str:
        keys.append(key)
        return key.upper()

    recent: Recent[str, str] = Recent(2)
    for key in ("a", "b", "a", "c", "a", "b"):
        assert recent.get(key, lambda key=key: make(key)) == key.upper()  # type: ignore[misc]
    assert keys == ["a", "b", "c", "b"]


def test_of_two_made_at_once_the_first_stays() -> None:
    recent: Recent[str, object] = Recent(2)
    barrier = threading.Barrier(2)

    def make() -> object:
        barrier.wait()
        return object()

    values: list[object] = []
    threads = [threading.Thread(target=lambda: values.append(recent.get("a", make))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values[0] is values[1]

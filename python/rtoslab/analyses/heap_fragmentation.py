"""How fragmented a heap is while blocks of mixed sizes live in it, from the checks that a benchmark sends of it."""

from dataclasses import dataclass

from rtoslab.results import MeasuredPoint


@dataclass(frozen=True, slots=True)
class HeapFragmentation:
    """The state of a heap at one moment: used and free bytes, the largest free piece, the number of pieces."""

    live_bytes: int
    """Asked for and not yet released, without the heap's own overhead."""
    free_bytes: int
    largest_free_bytes: int
    free_pieces: int

    @property
    def unusable_memory_share(self) -> float:
        """Returns the share of the free memory (0 to 1) that is outside the largest free piece. 0 if nothing is
        free."""
        return 1 - self.largest_free_bytes / self.free_bytes if self.free_bytes else 0.0


def most_fragmented_heap(point: MeasuredPoint) -> HeapFragmentation | None:
    """Returns the state of the heap of a measured point when it was in most pieces. None if the benchmark does not
    report it."""
    names = ("heap_live_bytes", "heap_free_bytes", "heap_largest_free_bytes", "heap_free_pieces")
    if not all(name in point.checks for name in names):
        return None
    return HeapFragmentation(*(point.checks[name][0] for name in names))

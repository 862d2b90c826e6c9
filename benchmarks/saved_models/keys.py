"""The name of a mutation: a seed, and the numbers of the changes that were made one on another."""

from dataclasses import dataclass
from pathlib import Path

from saved_models.bases import BASES, Ready
from saved_models.mutating import mutate
from saved_models.parts import Model, write


@dataclass(frozen=True)
class Key:
    """``seed:first,second,…``; the first number also says which base is changed.

    >>> Key.parse("0:12,40")
    Key(seed=0, steps=(12, 40))
    """

    seed: int
    steps: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.seed}:{','.join(str(step) for step in self.steps)}"

    @classmethod
    def parse(cls, text: str) -> "Key":
        seed, _, steps = text.strip().partition(":")
        return cls(int(seed), tuple(int(step) for step in steps.split(",") if step))

    @property
    def number(self) -> int:
        """The base."""
        return self.steps[0] % len(BASES)

    @property
    def estimator(self) -> str:
        return BASES[self.number].estimator

    def file(self, bases: dict[int, Ready], path: Path) -> list[str]:
        """Write the mutated file; what was changed in words."""
        model: Model = bases[self.number].model
        told: list[str] = []
        for step in self.steps:
            model, words = mutate(model, self.seed, step)
            told += words
        write(model, path)
        return told

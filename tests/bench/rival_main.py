"""Another framework with its dummy model over as many requests, in an environment of its own:
prints the CPU seconds of the evaluation, imports apart.

Started as a script of that environment, which has none of ours: rival_main.py FRAMEWORK REQUESTS.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main(framework: str, requests: int) -> None:
    """Import, prepare, then count."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "DO_NOT_TRACK": "1"}
    with tempfile.TemporaryDirectory(prefix="armillary-rival-") as name:
        os.environ["HF_HOME"] = name
        evaluate = RIVALS[framework](Path(name), requests)
        before = sum(os.times()[:4])
        answered = evaluate()
        print(json.dumps({"seconds": sum(os.times()[:4]) - before, "answered": answered}))


def _lm_eval(folder: Path, requests: int) -> Callable[[], int]:
    """One request a document, answered by its model `dummy` and compared with a target."""
    from lm_eval import simple_evaluate  # type: ignore[import-not-found]
    from lm_eval.tasks import TaskManager  # type: ignore[import-not-found]

    rows = [{"question": f"Is item {number} there?", "answer": "yes"} for number in range(requests)]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    task = {
        "task": "judgements",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(folder / "rows.jsonl")}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": ["\n"]},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    }
    (folder / "judgements.yaml").write_text(json.dumps(task))
    manager = TaskManager(include_path=str(folder), include_defaults=False)

    def evaluate() -> int:
        results: Any = simple_evaluate(model="dummy", tasks=["judgements"], task_manager=manager)
        return len(results["samples"]["judgements"])

    return evaluate


def _inspect_ai(folder: Path, requests: int) -> Callable[[], int]:
    """One sample a request, answered by its model `mockllm` and compared with a target. It counts
    tokens by a table that it would fetch; here words are counted, which costs it less."""
    import tiktoken  # type: ignore[import-not-found]
    from inspect_ai import Task, eval  # type: ignore[import-not-found]
    from inspect_ai.dataset import MemoryDataset, Sample  # type: ignore[import-not-found]
    from inspect_ai.scorer import match  # type: ignore[import-not-found]
    from inspect_ai.solver import generate  # type: ignore[import-not-found]

    tiktoken.get_encoding = tiktoken.encoding_for_model = lambda _: WordCount()
    samples = [Sample(input=f"Is item {n} there?", target="yes") for n in range(requests)]
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=match())

    def evaluate() -> int:
        (log,) = eval(task, model="mockllm/model", log_dir=str(folder), display="none")
        assert log.status == "success", log.error
        return int(log.results.completed_samples)

    return evaluate


class WordCount:
    """In place of a tokenizer whose table is on the network."""

    def encode(self, text: str, **_: object) -> list[int]:
        """As many numbers as there are words."""
        return [0] * len(text.split())


RIVALS = {"lm_eval": _lm_eval, "inspect_ai": _inspect_ai}

if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

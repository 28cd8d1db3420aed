"""A judge asked by batch jobs, which cost half at many endpoints: the same card, the same strict
reading, and whatever a job does not bring is asked again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluators.contracts import Answer, JudgeCard, Reply, Request
from evaluators.judges.batch.jobs import BatchEndpoint, BatchJob, JobBook, NoBook
from evaluators.judges.batch.lines import BatchResult, call_line
from evaluators.judges.http.budget import BUDGET, Budget, Usage
from evaluators.judges.http.endpoint import HttpJudgeConfig
from evaluators.judges.http.faults import Fault
from evaluators.judges.http.judge import HttpJudge, Keep
from evaluators.judges.http.request import failed_reply
from evaluators.judges.http.transcript import Transcript
from evaluators.judges.menus import check
from evaluators.judges.prompts import Message, render
from evaluators.judges.replies import BadReply, read_completion
from evaluators.media import Unreadable

ROUNDS = 3
"""Jobs for the same call; what is then still without an answer is asked call by call."""

MOST_BYTES = 90 << 20
MOST_CALLS = 5000
"""What a job's file may hold at most; endpoints take about twice that."""

Names = Callable[[Request], str]


@dataclass(slots=True)
class BatchedRequest:
    """A request on its way: its name in jobs, what was said, and the money that is held for it."""

    request: Request
    name: str
    transcript: Transcript
    held: Usage = field(default_factory=Usage)
    reply: Reply | None = None


@dataclass(frozen=True)
class BatchJudge:
    """Asks an endpoint by jobs. `names` gives a request the same name after a kill, and `book` the
    jobs that were put in before it."""

    config: HttpJudgeConfig
    budget: Budget = field(default_factory=Budget)
    keep: Keep | None = None
    book: JobBook = field(default_factory=NoBook)
    names: Names = lambda request: f"{request.sample_id}-{request.repeat}"

    @property
    def card(self) -> JudgeCard:
        """Who judges: the same as call by call."""
        return self.config.card

    def judge(self, requests: Sequence[Request]) -> Iterator[Reply]:
        """One reply a request, in their order, after the last job has ended."""
        for request in requests:
            check(request.questions)
        batched = [
            BatchedRequest(request, self.names(request), Transcript(self.config))
            for request in requests
        ]
        try:
            self._by_jobs(batched)
        except Fault as fault:
            self._give_up([item for item in batched if item.reply is None], fault)
        self._call_by_call([item for item in batched if item.reply is None])
        for item in batched:
            assert item.reply is not None
            yield item.reply

    def _by_jobs(self, batched: Sequence[BatchedRequest]) -> None:
        endpoint = BatchEndpoint(self.config)
        by_name = {item.name: item for item in batched}
        for job in self.book.open_jobs():
            if by_name.keys() & set(job.names):
                self._collect(endpoint, job, by_name)
        for turn in range(ROUNDS):
            waiting = [item for item in batched if item.reply is None]
            with tempfile.TemporaryDirectory(prefix="batch-") as folder:
                jobs = [
                    self._put(endpoint, file, items, turn)
                    for file, items in self._files(waiting, Path(folder), turn)
                ]
            for job in jobs:
                self._collect(endpoint, job, by_name)

    def _files(
        self, waiting: Sequence[BatchedRequest], folder: Path, turn: int
    ) -> Iterator[tuple[Path, list[BatchedRequest]]]:
        """Files of calls, none too large; a request whose media cannot be read, or that the money
        does not cover now, is in none."""
        items: list[BatchedRequest] = []
        file, size = folder / "0.jsonl", 0
        for item in waiting:
            line = self._line(item, turn)
            if line is None:
                continue
            if items and (size + len(line) > MOST_BYTES or len(items) >= MOST_CALLS):
                yield file, items
                items, size, file = [], 0, folder / f"{item.name[:40]}.jsonl"
            with file.open("ab") as lines:
                lines.write(line)
            items.append(item)
            size += len(line)
        if items:
            yield file, items

    def _line(self, item: BatchedRequest, turn: int) -> bytes | None:
        try:
            messages = self._messages(item.request)
        except Fault as fault:
            self._done(item, failed_reply(item.request, item.transcript, fault))
            return None
        limit = item.transcript.limit
        most = self.config.most(messages, limit)
        if (leave := self.budget.ask(most)) != "go":
            if leave == "stop":
                self._done(item, failed_reply(item.request, item.transcript, Fault(BUDGET)))
            return None
        item.held = most
        body = self.config.body(messages, item.request.questions, limit)
        return call_line(_numbered(item.name, turn), body)

    def _messages(self, request: Request) -> list[Message]:
        config = self.config
        try:
            return render(
                request,
                config.frames,
                structured=config.structured,
                form=config.form,
                rules=config.rules,
            )
        except Unreadable as error:
            where, name = str(request.media), request.media.name
            raise Fault("media: " + str(error).replace(where, name)) from None
        except OSError as error:
            raise Fault(f"media: {request.media.name}: {error.strerror}") from None

    def _put(
        self, endpoint: BatchEndpoint, file: Path, items: Sequence[BatchedRequest], turn: int
    ) -> BatchJob:
        numbered = endpoint.put(file, tuple(_numbered(item.name, turn) for item in items))
        job = BatchJob(numbered.id, tuple(item.name for item in items))
        self.book.note(job)
        return job

    def _collect(
        self, endpoint: BatchEndpoint, job: BatchJob, by_name: Mapping[str, BatchedRequest]
    ) -> None:
        """Read a job's results; what it did not bring is free to be asked again."""
        results = {result.name.rpartition(".")[0]: result for result in endpoint.results(job)}
        for name in job.names:
            item = by_name.get(name)
            if item is not None and item.reply is None:
                self._read(item, results.get(name))
        self.book.close(job)

    def _read(self, item: BatchedRequest, result: BatchResult | None) -> None:
        completion = result.completion if result else None
        cost = self.config.cost(completion, item.held) if completion else Usage()
        self.budget.settle(item.held, cost)
        item.held = Usage()
        if completion is None:
            return
        item.transcript.add(completion)
        try:
            answers = read_completion(
                completion, item.request.questions, structured=self.config.structured
            )
        except BadReply:
            if completion.cut_off and item.transcript.limit < self.config.room:
                item.transcript.limit = self.config.wider(item.transcript.limit)
            return
        self._done(item, _reply(item, answers))

    def _done(self, item: BatchedRequest, reply: Reply) -> None:
        item.reply = reply
        if self.keep:
            self.keep(item.request, reply)

    def _give_up(self, waiting: Sequence[BatchedRequest], fault: Fault) -> None:
        """The endpoint takes no jobs, or one did not end: no answer, and a reason."""
        for item in waiting:
            self.budget.settle(item.held, Usage())
            item.reply = failed_reply(item.request, item.transcript, fault)

    def _call_by_call(self, waiting: Sequence[BatchedRequest]) -> None:
        """What no job brought, through the live endpoint: with its own patience and corrections."""
        live = HttpJudge(self.config, self.budget, keep=self.keep)
        replies = live.judge([item.request for item in waiting]) if waiting else iter(())
        for item, reply in zip(waiting, replies, strict=True):
            item.reply = reply


def _numbered(name: str, turn: int) -> str:
    return f"{name}.{turn}"


def _reply(item: BatchedRequest, answers: tuple[Answer, ...]) -> Reply:
    told = item.transcript
    return Reply(
        item.request.sample_id, answers, told.last, told.tokens_in, told.tokens_out, told.cost
    )
